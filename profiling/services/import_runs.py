"""One run folder of PowerTrain's harness as a run: its spread, its quality flags, its telemetry."""

from typing import Any

import numpy as np

from profiling.agent.rules import Rules
from profiling.agent.verdict import THROTTLED_BELOW, instability
from profiling.errors import InvalidInput
from profiling.formats import DreamlabRun
from profiling.models import Run, Telemetry, Upload
from profiling.services.import_log import telemetry_of
from profiling.telemetry import TIME

KEPT_TEXT_CHARS = 20_000
MINIBATCHES = {TIME: "log_time_s", "minibatch_ms": "time_ms", "fetch_ms": "fetch_ms"}
MINIBATCHES |= {"compute_ms": "compute_ms"}


def folder_facts(run: Run, measured: DreamlabRun) -> dict[str, Any]:
    """What the folder says beyond the table's columns. The rules are the agent's own."""
    times = measured.minibatches.time_ms.tolist() if len(measured.minibatches) else []
    why = _flags(run, measured, times)
    fields: dict[str, Any] = {
        "time_sd_ms": float(np.std(times, ddof=1)) if len(times) > 1 else None,
        "fetch_ms": measured.median("fetch_ms"),
        "compute_ms": measured.median("compute_ms"),
        "minibatches": len(times),
        "power_samples": measured.power_samples,
        "flags": list(why),
        "extra": {"folder": measured.folder, "files": measured.prefix, "why": why, **_texts(measured)},
        "unknowns": {**run.unknowns, **measured.unknown},
    }
    return {name: value for name, value in fields.items() if value is not None}


def folder_telemetry(upload: Upload, run: Run, measured: DreamlabRun) -> list[Telemetry]:
    """The sensors in one chunk, each clean minibatch's end and times in a second, on the same clock."""
    sensors: dict[str, Any] = measured.telemetry.telemetry() if measured.telemetry else {}
    try:
        return [
            telemetry_of(upload, columns, measured.folder, sequence)
            for sequence, columns in enumerate([sensors, _minibatch_columns(measured)])
            if len(columns.get(TIME, ()))
        ]
    except InvalidInput as error:  # the run's own numbers are good, so it is kept without
        run.unknowns["telemetry"] = error.message
        return []


def _minibatch_columns(measured: DreamlabRun) -> dict[str, list[float]]:
    frame = measured.minibatches
    if not len(frame):
        return {}
    ordered = frame.sort_values("log_time_s")
    return {name: ordered[column].tolist() for name, column in MINIBATCHES.items() if column in ordered}


def _flags(run: Run, measured: DreamlabRun, times: list[float]) -> dict[str, str]:
    rules = Rules()
    opinions = {
        "throttled": _throttling(run, measured),
        "unstable": instability(times, [], rules.spread, rules.tolerance),
    }
    if len(times) < rules.minibatches:
        opinions["short"] = f"{len(times)} clean minibatches, {rules.minibatches} wanted"
    if measured.power_mw is not None and measured.power_samples < rules.power_samples:
        opinions["few_power_samples"] = (
            f"{measured.power_samples} distinct ones, {rules.power_samples} wanted"
        )
    return {flag: why for flag, why in opinions.items() if why}


def _throttling(run: Run, measured: DreamlabRun) -> str | None:
    """A clock whose median under load lies below the mode's. One that reads 0 was gated, and says nothing."""
    for asked, name in ((run.cpu_khz, "cpu0_khz"), (run.gpu_khz, "gpu_khz"), (run.mem_khz, "mem_khz")):
        clocks = _under_load(measured, name)
        if asked and len(clocks) and np.median(clocks) < THROTTLED_BELOW * asked:
            return f"{name} ran at {np.median(clocks):g}, asked for {asked:g}"
    return None


def _under_load(measured: DreamlabRun, name: str) -> np.ndarray:
    log, ends = measured.telemetry, measured.minibatches.get("log_time_s")
    if log is None or name not in log.columns or ends is None or not len(ends):
        return np.empty(0)
    clocks, time_s = np.asarray(log.columns[name], dtype=float), log.columns[TIME]
    return clocks[(time_s >= ends.iloc[0]) & (time_s <= ends.iloc[-1]) & (clocks > 0)]


def _texts(measured: DreamlabRun) -> dict[str, str]:
    """The harness's other dumps as they are; a long one is in the uploaded file."""
    return {
        name: text
        if len(text) <= KEPT_TEXT_CHARS
        else f"{len(text):,} characters, in {measured.folder} of the file"
        for name, text in measured.others.items()
    }
