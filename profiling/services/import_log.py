"""A telemetry log as a run of which only the power is known, or as the telemetry of a run the user names."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiling.agent.rules import Rules
from profiling.errors import InvalidInput
from profiling.formats import Log, Problem
from profiling.knobs import KNOB_NAMES
from profiling.models import DeviceModel, Run, Telemetry, Upload
from profiling.telemetry import TIME, TelemetryError, pack

NO_TIMES = "a telemetry log does not say when a minibatch ended"
NO_MODE = "a telemetry log tells clocks over time, not the mode that was set"
JTOPS_OWN = "jtop's own total"
RAIL = re.compile(r"power_(.+?)_mw")
NO_RAILS = {"total", "total_avg"}
ANOTHERS = "Was it taken on another board?"


def log_chunks(upload: Upload, log: Log) -> list[Telemetry]:
    return [telemetry_of(upload, chunk, upload.filename, place) for place, chunk in enumerate(log.chunks())]


def chunks_write(run: Run, chunks: list[Telemetry]) -> None:
    """One at a time, as a statement holds all that it stores."""
    for chunk in chunks:
        chunk.run = run
        chunk.save(force_insert=True)


def telemetry_of(upload: Upload, columns: dict[str, Any], name: str, sequence: int = 0) -> Telemetry:
    try:
        return Telemetry(upload=upload, sequence=sequence, **pack(columns)._asdict())
    except TelemetryError as error:
        raise InvalidInput(f"{name} cannot be kept as telemetry: {error}") from error


def log_run(upload: Upload, log: Log) -> Run:
    assert upload.workload is not None  # upload_receive asks for both
    assert upload.device_model is not None
    power, rule = _total(log, upload.device_model.total_rails)
    fresh = ~log.repeated
    mean = _time_weighted(log.columns[TIME][fresh], power[fresh]) if power is not None else None
    samples = int(np.isfinite(power[fresh]).sum()) if power is not None else 0
    unknowns = dict.fromkeys(KNOB_NAMES, NO_MODE) | dict.fromkeys(("time_ms", "energy_mj"), NO_TIMES)
    if mean is None:
        unknowns["power_mw"] = rule
    wanted = Rules().power_samples
    return Run(
        workload=upload.workload,
        device_model=upload.device_model,
        device_id=upload.device_id,
        emulated=upload.emulated,
        upload=upload,
        line=1,
        minibatch=upload.workload.minibatch,
        power_mw=mean,
        power_samples=samples,
        flags=["few_power_samples"] if mean is not None and samples < wanted else [],
        unknowns=unknowns,
        provenance={
            "minibatch": "the workload's; a log names none",
            "power_mw": rule,
            "started": log.started,
        },
        extra={"log": log.format, "unknown_channels": log.unknown},
    )


def board_doubts(board: DeviceModel, log: Log) -> tuple[list[Problem], list[Problem]]:
    """Problems: what says that the log is another board's. Notes: what it tells that this board cannot."""
    rails, known = log_rails(log), {rail.lower() for rail in board.rails}
    own, told = ", ".join(board.rails) or "no rails", ", ".join(rails)
    problems, notes = [], []
    strange = [rail for rail in rails if rail.lower() not in known]
    if rails and known and _total(log, board.total_rails)[0] is None:
        problems.append(f"the log's rails are {told}; {board} has {own}. {ANOTHERS}")
    elif strange and known:
        notes.append(f"{board} has no {', '.join(strange)}, which the log tells of; it has {own}")
    cores = sum(bool(re.fullmatch(r"load_cpu\d+_pct", name)) for name in log.columns)
    if cores > max(board.cores, default=cores):
        problems.append(f"the log tells of {cores} CPU cores; {board} has {max(board.cores)}. {ANOTHERS}")
    if not rails and not NO_RAILS & _rails(log):
        notes.append("the log tells no power, so the run's power is unknown")
    return [Problem(0, "", "", reason) for reason in problems], [
        Problem(0, "", "", reason) for reason in notes
    ]


def log_rails(log: Log) -> list[str]:
    """The rails whose power it tells, spelt as tegrastats does."""
    return sorted(rail.upper() for rail in _rails(log) - NO_RAILS if not rail.endswith(("_avg", "_peak")))


def _rails(log: Log) -> set[str]:
    return {found[1] for name in log.columns if (found := RAIL.fullmatch(name))}


def _total(log: Log, total_rails: list[str]) -> tuple[NDArray[np.float64] | None, str]:
    """The module's power (n,) mW, and how it is made of the rails, or why it is not known."""
    names = [f"power_{rail.lower()}_mw" for rail in total_rails]
    if names and all(name in log.columns for name in names):
        return np.sum([log.columns[name] for name in names], axis=0), " + ".join(total_rails)
    if "power_total_mw" in log.columns:
        return log.columns["power_total_mw"], JTOPS_OWN
    if not names:
        return None, "the board's total rails are not known"
    told = ", ".join(log_rails(log)) or "no rail"
    return None, f"the board's total is {' + '.join(total_rails)}, and the log tells of {told}"


def _time_weighted(time_s: NDArray[np.float64], power_mw: NDArray[np.float64]) -> float | None:
    """Each sample stands for the time since the one before it, as in profiling.agent.measured.power_over."""
    known = np.isfinite(power_mw)
    time_s, power_mw = time_s[known], power_mw[known]
    if len(time_s) < 2 or time_s[-1] <= time_s[0]:
        return float(power_mw.mean()) if len(power_mw) else None
    return float(np.average(power_mw[1:], weights=np.diff(time_s)))
