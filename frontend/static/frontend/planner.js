// The planner's plot: columns come once in binary, answers come with each question; zoom stays.
"use strict";

const plot = document.getElementById("plan-plot");
const form = document.getElementById("plan-form");
const powerInput = document.getElementById("id_power_w");
let columnsVersion = "";

const shown = (number) => number.toLocaleString("en-GB");
const TICKS = [-1, 0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)));

const marks = () => JSON.parse(document.getElementById("plan-marks").textContent);

async function loadColumns(m) {
  const address = new URL(plot.dataset.columns, location);
  for (const name of ["workload", "device_model"]) address.searchParams.set(name, form.elements[name].value);
  address.searchParams.set("predictor", m.predictor);
  address.searchParams.set("minibatch", m.minibatch);
  address.searchParams.set("v", m.version);
  if (address.href === columnsVersion) return;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The modes could not be loaded (${answer.status}).`);
  const body = await answer.arrayBuffer();
  const floats = (place) => new Float32Array(body, 4 * place * m.count, m.count);
  columns = {
    time: floats(0), power: floats(1), timeSd: floats(2), powerSd: floats(3),
    flags: new Uint8Array(body, 16 * m.count, m.count),
  };
  columnsVersion = address.href;
}

function trace(name, ranks, marker, more = {}) {
  return {
    type: "scattergl", mode: "markers", name, hoverinfo: "none", showlegend: false, customdata: ranks,
    x: Float32Array.from(ranks, (rank) => columns.power[rank] / 1000),
    y: Float32Array.from(ranks, (rank) => columns.time[rank]),
    marker, ...more,
  };
}

const Z90 = 1.645;

// The front's 90 % interval of time, as an area along it.
function frontBand(front) {
  const end = (sign) => (rank) => columns.time[rank] * Math.exp(sign * Z90 * columns.timeSd[rank]);
  const there = [...front], back = [...front].reverse();
  return {
    type: "scatter", mode: "lines", name: "90 % of the front", hoverinfo: "skip", showlegend: false,
    fill: "toself", fillcolor: "--front-band", line: { width: 0 },
    x: [...there, ...back].map((rank) => columns.power[rank] / 1000),
    y: [...there.map(end(1)), ...back.map(end(-1))],
  };
}

// A star's 90 % interval in both directions.
function bars(rank) {
  const bar = (value, sd) => ({
    type: "data", symmetric: false, color: "--chosen", thickness: 1.5, width: 4,
    array: [value * (Math.exp(Z90 * sd) - 1)], arrayminus: [value * (1 - Math.exp(-Z90 * sd))],
  });
  return { error_x: bar(columns.power[rank] / 1000, columns.powerSd[rank]), error_y: bar(columns.time[rank], columns.timeSd[rank]) };
}

function traces(m) {
  const found = groups(m);
  const star = m.feasible ? "star" : "star-open";
  const stock = m.stock.map((each) => each.rank);
  const hollow = { symbol: "circle-open", color: "--infeasible", opacity: 0.75 };
  return [
    trace("beyond", found.outside, { ...hollow, size: 3 }),
    trace("beyond, measured", found.measuredOutside, { ...hollow, size: 7 }),
    trace("predicted", found.predicted, { color: "--predicted", size: 3 }),
    trace("front", found.front, { symbol: "diamond", color: "--front", size: 6 },
      { mode: "lines+markers", line: { color: "--front", width: 1.5 } }),
    trace("measured", found.measured, { color: "--measured", size: 7 }),
    trace("just beyond", m.beyond === null ? [] : [m.beyond],
      { symbol: "star-open", color: "--chosen", size: 14, line: { width: 1.5 } }, m.beyond === null ? {} : bars(m.beyond)),
    trace("stock", stock, { symbol: "triangle-up", color: "--stock", size: 12, line: { color: "--surface", width: 1 } }),
    trace("chosen", [m.chosen], { symbol: star, color: "--chosen", size: 18, line: { color: "--surface", width: 1 } }, bars(m.chosen)),
    frontBand(found.front),
  ];
}

// Labels of neighbours are stacked above and below their marks; the first goes below where a star is just above.
const LABEL_SHIFTS = [16, -16, 31, -31];

function starAbove(m, rank) {
  return [m.chosen, m.beyond].some((star) => star !== null &&
    Math.abs(Math.log(columns.power[star] / columns.power[rank])) < 0.15 &&
    columns.time[star] > columns.time[rank] && columns.time[star] / columns.time[rank] < 1.5);
}

function stockLabels(m) {
  const narrow = document.getElementById("plan-plot").clientWidth < 500;
  const [near, level] = narrow ? [1.5, 0.6] : [1.12, 0.3];
  const sorted = [...m.stock].sort((a, b) => columns.power[a.rank] - columns.power[b.rank]);
  let crowd = 0;
  return sorted.map(({ name, rank }, place) => {
    const before = sorted[place - 1]?.rank;
    const close = before !== undefined && columns.power[rank] / columns.power[before] < near &&
      Math.abs(Math.log(columns.time[rank] / columns.time[before])) < level;
    crowd = close ? crowd + 1 : Number(starAbove(m, rank));
    return {
      x: columns.power[rank] / 1000, y: Math.log10(columns.time[rank]), text: name, showarrow: false,
      yshift: LABEL_SHIFTS[crowd % LABEL_SHIFTS.length], font: { size: 11, color: "--stock" },
      bgcolor: "--surface", opacity: 0.9, borderpad: 1,
    };
  });
}

function layout(m) {
  return Theme.layout({
    xaxis: { title: { text: "power, W" } },
    yaxis: { title: { text: "time of a minibatch, ms" }, type: "log", tickvals: TICKS, ticktext: TICKS.map(shown) },
    margin: { l: 56, r: 12, t: 12, b: 44 }, hovermode: "closest", hoverdistance: 12, dragmode: "zoom",
    annotations: stockLabels(m), uirevision: columnsVersion, showlegend: false,
  });
}

async function draw() {
  if (!document.getElementById("plan-marks")) return;
  const m = marks();
  try {
    await loadColumns(m);
  } catch (error) {
    plot.replaceChildren(Object.assign(document.createElement("p"), { className: "bad", textContent: error.message }));
    return;
  }
  plot.querySelector(".skeleton")?.remove();
  const fresh = !plot.data;
  await Plotly.react(plot, Theme.resolve(traces(m)), layout(m), Theme.config);
  if (fresh) listen();
  placeLine();
}

// The power limit as a line to drag, or to move with the arrow keys.
const line = document.createElement("div");
line.className = "budget-line";
line.tabIndex = 0;
line.setAttribute("role", "slider");
line.setAttribute("aria-label", "Power limit, W");
line.setAttribute("aria-orientation", "horizontal");
const flag = document.createElement("span");
line.append(flag);

function axis() {
  return plot._fullLayout.xaxis;
}

function placeLine() {
  if (!plot.contains(line)) plot.append(line);
  const [low, high] = axis().range;
  const limit = powerInput.value === "" ? high : Number(powerInput.value);
  const shown = Math.min(Math.max(limit, low), high);
  line.style.left = `${axis()._offset + axis().l2p(shown)}px`;
  line.style.top = `${plot._fullLayout.yaxis._offset}px`;
  line.style.height = `${plot._fullLayout.yaxis._length}px`;
  line.classList.toggle("left", axis().l2p(shown) < 100);
  line.classList.toggle("unset", powerInput.value === "");
  flag.textContent = powerInput.value === "" ? "drag to limit" : `≤ ${powerInput.value} W`;
  line.setAttribute("aria-valuemin", "0");
  line.setAttribute("aria-valuemax", high.toFixed(0));
  line.setAttribute("aria-valuenow", limit.toFixed(1));
}

function setPower(watts, ask) {
  const [low, high] = axis().range;
  powerInput.value = watts >= high ? "" : Math.max(watts, low, 0.1).toFixed(1);
  placeLine();
  if (ask) powerInput.dispatchEvent(new Event("change", { bubbles: true }));
}

line.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  line.setPointerCapture(event.pointerId);
  line.focus();
});
line.addEventListener("pointermove", (event) => {
  if (!line.hasPointerCapture(event.pointerId)) return;
  setPower(axis().p2l(event.clientX - plot.getBoundingClientRect().left - axis()._offset), false);
});
line.addEventListener("pointerup", (event) => {
  if (!line.hasPointerCapture(event.pointerId)) return;
  line.releasePointerCapture(event.pointerId);
  setPower(Number(powerInput.value) || axis().range[1], true);
});
line.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -0.5, ArrowRight: 0.5, PageDown: -5, PageUp: 5 }[event.key];
  if (!step) return;
  event.preventDefault();
  setPower((Number(powerInput.value) || axis().range[1]) + step, true);
});

// One label for all traces: every knob, the numbers and their intervals.
const tip = document.createElement("div");
tip.className = "plot-tip";
tip.hidden = true;

function interval(value, sd, digits) {
  const show = (number) => Number(number.toPrecision(digits)).toLocaleString("en-GB");
  if (!(sd > 0)) return show(value);
  const spread = Math.exp(Z90 * sd);
  return `${show(value)} (${show(value / spread)} to ${show(value * spread)})`;
}

function describe(rank) {
  const m = marks();
  const knobs = knobsOf(rank, m.ranges);
  const mhz = (khz) => (khz / 1000).toLocaleString("en-GB", { maximumFractionDigits: 1 });
  const stock = m.stock.find((each) => each.rank === rank);
  const kind = columns.flags[rank] & MEASURED ? (m.emulated ? "emulated" : "measured") : "predicted";
  return [
    `${rank === m.chosen ? "★ " : ""}${stock ? `${stock.name}, ` : ""}${kind}`,
    `${knobs.cores} cores · CPU ${mhz(knobs.cpu_khz)} · GPU ${mhz(knobs.gpu_khz)} · memory ${mhz(knobs.mem_khz)} MHz`,
    `${interval(columns.time[rank], columns.timeSd[rank], 3)} ms`,
    `${interval(columns.power[rank] / 1000, columns.powerSd[rank], 3)} W`,
    `${interval(columns.time[rank] * columns.power[rank] / 1e6,
      Math.hypot(columns.timeSd[rank], columns.powerSd[rank]), 3)} J`,
  ];
}

function listen() {
  plot.append(tip);
  plot.on("plotly_hover", ({ points: [point] }) => {
    tip.replaceChildren(...describe(point.customdata).map((text) =>
      Object.assign(document.createElement("div"), { textContent: text })));
    tip.hidden = false;
    const left = axis()._offset + axis().d2p(point.x);
    const room = plot.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left + 14, room))}px`;
    tip.style.top = `${Math.max(8, plot._fullLayout.yaxis._offset + plot._fullLayout.yaxis.d2p(point.y) - tip.offsetHeight - 12)}px`;
  });
  plot.on("plotly_click", ({ points: [point] }) => {
    plot.dispatchEvent(new CustomEvent("pick-mode", { detail: point.customdata }));
  });
  plot.on("plotly_unhover", () => { tip.hidden = true; });
  plot.on("plotly_afterplot", placeLine);
  plot.on("plotly_relayout", placeLine);
}

form.addEventListener("htmx:configRequest", (event) => {
  // Empty limits stay out of the address.
  const asked = event.detail.parameters;
  for (const name of [...new Set(asked.keys ? asked.keys() : Object.keys(asked))]) {
    if (asked[name] === "") delete asked[name];
  }
});
// Another pair has other modes and other knobs: a whole new page.
for (const name of ["workload", "device_model"]) {
  form.elements[name].addEventListener("change", (event) => {
    event.stopPropagation();
    for (const hidden of form.querySelectorAll("input[type=hidden], #id_minibatch, .knob-limits select, [data-extras] select")) hidden.disabled = true;
    for (const input of form.elements) if (input.value === "") input.disabled = true;
    HTMLFormElement.prototype.submit.call(form);
  });
}
form.elements.risk.addEventListener("input", (event) => {
  form.querySelector("output").textContent = event.target.value;
});
form.elements.objective.addEventListener("change", (event) => {
  document.getElementById("weight-field").hidden = event.target.value !== "weighted";
});
powerInput.addEventListener("input", () => plot?.data && placeLine());
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "plan-answer") draw();
});
const copyAddress = document.querySelector("[data-copy-address]");
copyAddress.hidden = !navigator.clipboard;
copyAddress.addEventListener("click", async (event) => {
  await navigator.clipboard.writeText(location.href);
  event.target.textContent = "Copied";
  setTimeout(() => { event.target.textContent = "Copy link"; }, 1500);
});

draw();
Theme.onChange(draw);
