// What the planner's scripts know of a mode: its knobs, and whether it keeps the budget.
"use strict";

const MEASURED = 1, FRONT = 2;
const KNOBS = ["cores", "cpu_khz", "gpu_khz", "mem_khz"];
let columns = null;

// Rank i names the i-th combination of the legal knobs, cores slowest and memory fastest to vary.
function knobsOf(rank, ranges) {
  const knobs = {};
  for (const name of [...KNOBS].reverse()) {
    knobs[name] = ranges[name][rank % ranges[name].length];
    rank = Math.floor(rank / ranges[name].length);
  }
  return knobs;
}

// The normal distribution's upper tail (Abramowitz and Stegun 7.1.26, error below 1e-7).
function tail(z) {
  const t = 1 / (1 + 0.3275911 * Math.abs(z) / Math.SQRT2);
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const upper = 0.5 * poly * Math.exp(-z * z / 2);
  return z >= 0 ? upper : 1 - upper;
}

function breaking(centre, sd, limit) {
  const room = Math.log(limit / centre);
  if (!(sd > 0)) return room < 0 ? 1 : 0;
  return tail(room / sd);
}

// The planner's own rule: the chances to break each ceiling are added, and must not exceed the risk.
function fits(rank, m) {
  const { time, power, timeSd, powerSd } = columns;
  let chance = 0;
  for (const limit of m.ceilings.power_mw) chance += breaking(power[rank], powerSd[rank], limit);
  for (const limit of m.ceilings.time_ms) chance += breaking(time[rank], timeSd[rank], limit);
  for (const limit of m.ceilings.energy_mj) {
    chance += breaking(time[rank] * power[rank] / 1000, Math.hypot(timeSd[rank], powerSd[rank]), limit);
  }
  return chance <= m.risk;
}

function allowed(rank, m) {
  const names = Object.keys(m.allowed);
  if (!names.length) return true;
  const knobs = knobsOf(rank, m.ranges);
  return names.every((name) => {
    const [low, high] = m.allowed[name];
    return (low === null || knobs[name] >= low) && (high === null || knobs[name] <= high);
  });
}

function groups(m) {
  const found = { predicted: [], measured: [], outside: [], measuredOutside: [], front: [] };
  for (let rank = 0; rank < m.count; rank++) {
    const within = fits(rank, m) && allowed(rank, m);
    const flags = columns.flags[rank];
    if (flags & FRONT) found.front.push(rank);
    if (flags & MEASURED) found[within ? "measured" : "measuredOutside"].push(rank);
    else found[within ? "predicted" : "outside"].push(rank);
  }
  found.front.sort((a, b) => columns.power[a] - columns.power[b]);
  return found;
}
