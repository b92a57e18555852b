"""The measuring protocol: one workload, one power mode, numbers one may believe.

PowerTrain sections 2.4 and 2.5 (first minibatch discarded, power awaited by a sliding window, 40 clean
minibatches), "Characterizing training" section 4.5 (fetch stall and compute, E = Σ p·Δt, baseload),
"Energy of inference" section 4.6 (sampling beside the workload), "High-level frameworks" section IV
(times and power in separate passes). docs/science.md tells it in prose.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from profiling.agent.measured import MeasuredRun, Power, columns, power_over, quartile_range
from profiling.agent.observe import Observation, Window
from profiling.agent.rules import Heartbeat, Rules
from profiling.agent.verdict import instability, overheating, throttling, unknown_power
from profiling.board.base import Board, Reading
from profiling.knobs import Knobs
from profiling.workloads.base import Minibatch, WorkloadProcess

PROTOCOL_VERSION = 1


def measure(
    board: Board,
    workload: WorkloadProcess,
    knobs: Knobs | None,
    *,
    minibatch: int,
    rules: Rules | None = None,
    conditions: Mapping[str, Any] | None = None,
    heartbeat: Heartbeat = lambda progress: None,
) -> MeasuredRun:
    """Measure `workload` in the mode `knobs`; None leaves the clocks to the board's governor (DVFS on).

    The workload is left held, ready for the next mode; the board in `knobs`. conditions: what the caller
    knows of the circumstances (governor, fan, JetPack), for the provenance. On any error the workload is
    stopped. BoardError, WorkloadFailed.
    """
    observation = Observation(board, rules or Rules(), heartbeat, workload)
    try:
        observation.prepare(knobs)
        observation.settle()
        times, power = observation.collect()
        workload.pause()
    except BaseException:
        workload.stop()
        raise
    return result(observation, knobs, minibatch, times, power, conditions or {})


def measure_baseload(
    board: Board,
    knobs: Knobs | None,
    *,
    rules: Rules | None = None,
    conditions: Mapping[str, Any] | None = None,
    heartbeat: Heartbeat = lambda progress: None,
) -> MeasuredRun:
    """The board's power in the mode `knobs` with no workload ("Characterizing training", section 5.6)."""
    observation = Observation(board, rules or Rules(), heartbeat)
    observation.prepare(knobs)
    observation.settle()
    power = observation.watch_power()
    return result(observation, knobs, None, Window(), power, conditions or {})


def result(
    seen: Observation,
    knobs: Knobs | None,
    minibatch: int | None,
    times: Window,
    power_window: Window,
    conditions: Mapping[str, Any],
) -> MeasuredRun:
    """Everything observed, as one run."""
    seen.enter("done")
    start_s, end_s = power_window.start_s, power_window.end_s
    power = power_over(seen.readings, start_s, end_s, seen.rules.sensor_period_s)
    why = flags(seen, knobs, times, seen.inside(power_window), power)
    return MeasuredRun(
        knobs=knobs,
        minibatch=minibatch,
        kind="workload" if seen.workload else "baseload",
        **time_fields(times.clean),
        power_mw=power.mean_mw,
        power_sd_mw=power.sd_mw,
        energy_mj=energy_mj(power, power_window),
        minibatches=len(times.clean),
        power_samples=power.samples,
        flags=tuple(why),
        why=why,
        unknowns=unknowns(seen, power, times),
        window_start_s=start_s - seen.began_s,
        window_end_s=end_s - seen.began_s,
        phases_s=seen.phases_s,
        telemetry=columns(seen.readings, seen.began_s),
        provenance=provenance(seen, conditions),
        measured_at=datetime.now(UTC).isoformat(),
    )


def flags(
    seen: Observation, knobs: Knobs | None, times: Window, inside: Sequence[Reading], power: Power
) -> dict[str, str]:
    """What a reader must know before using the run: flag -> one sentence."""
    rules, durations = seen.rules, [minibatch.time_ms for minibatch in times.clean]
    opinions = {
        "throttled": throttling(inside, knobs, seen.board.ranges()),
        "unstable": seen.restless or instability(durations, inside, rules.spread, rules.tolerance),
        "hot": overheating(inside, rules.ceiling_c),
    }
    if seen.workload and len(durations) < rules.minibatches:
        opinions["short"] = f"{len(durations)} clean minibatches, {rules.minibatches} wanted"
    if power.mean_mw is not None and power.samples < rules.power_samples:
        opinions["few_power_samples"] = f"{power.samples} distinct ones, {rules.power_samples} wanted"
    if knobs is None:
        opinions["dvfs_on"] = "the board's governor chose the clocks"
    return {flag: why for flag, why in opinions.items() if why}


def unknowns(seen: Observation, power: Power, times: Window) -> dict[str, str]:
    found = {}
    if power.mean_mw is None:
        found = dict.fromkeys(("power_mw", "energy_mj"), unknown_power(seen.readings))
    if not times.clean:
        reason = "no clean minibatch ended in time" if seen.workload else "baseload: no workload ran"
        found |= dict.fromkeys(("time_ms", "fetch_ms", "compute_ms", "energy_mj"), reason)
    return found


def provenance(seen: Observation, conditions: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "protocol": PROTOCOL_VERSION,
        "driver": seen.board.driver,
        "emulated": seen.board.emulated,
        "rules": asdict(seen.rules),
        "total_rule": next((r.total_rule for r in seen.readings if r.total_rule), None),
        "workload": dict(seen.workload.facts) if seen.workload else None,
        **conditions,
    }


def time_fields(clean: Sequence[Minibatch]) -> dict[str, float | None]:
    """Median, standard deviation and interquartile range of the end-to-end time; medians of its parts."""
    if not clean:
        return {}
    times = [minibatch.time_ms for minibatch in clean]
    return {
        "time_ms": statistics.median(times),
        "time_sd_ms": statistics.stdev(times) if len(times) > 1 else None,
        "time_iqr_ms": quartile_range(times),
        "fetch_ms": statistics.median(minibatch.fetch_ms for minibatch in clean),
        "compute_ms": statistics.median(minibatch.compute_ms for minibatch in clean),
    }


def energy_mj(power: Power, window: Window) -> float | None:
    """Energy of one minibatch: mean power times the window, shared by its minibatches (mW · s = mJ)."""
    if power.mean_mw is None or not window.clean:
        return None
    return power.mean_mw * window.seconds / len(window.clean)
