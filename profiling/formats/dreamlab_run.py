"""One run of PowerTrain's harness: its minibatches, and what the sensors said meanwhile."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from profiling.formats import csv_rows, jtop
from profiling.formats.channels import Channels
from profiling.formats.checks import FloatArray, to_numbers, why_no_number
from profiling.formats.format import Options
from profiling.formats.log import Log
from profiling.formats.problems import FormatError, Problem, shown
from profiling.formats.source import Source

FREQUENCY = re.compile(r"'frq': (\d+)")
WARM_UP = 1  # minibatches: the first carries CUDA's start and the loader's
# jtop samples once a second and the sensor averages over 0.4 s: a row tells of the second before it.
SETTLE_S = 1.0
NEAREST_S = 1.0
KEPT_AS_TEXT = ("io_stats", "mem_stats", "swap_stats", "vmtouch_stats")


@dataclass
class DreamlabRun:
    """mode: cores, CPU kHz, GPU Hz, memory Hz, as named.

    minibatches: one row each, warm-up left out: time_ms, fetch_ms, compute_ms, log_time_s (its end).
    telemetry: on the run's clock (time_s = log_time), repeated sensor rows marked. others: what we only keep.
    """

    folder: str
    prefix: str
    mode: tuple[int, int, int, int]
    minibatches: pd.DataFrame = field(default_factory=pd.DataFrame)
    discarded: int = 0
    telemetry: Log | None = None
    power_mw: float | None = None
    power_samples: int = 0
    others: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its folder, and what its files' names begin with."""
        return f"{self.folder}/{self.prefix}"

    def median(self, name: str) -> float | None:
        if name not in self.minibatches or not len(self.minibatches):
            return None
        value = float(self.minibatches[name].median())
        return None if np.isnan(value) else value


def read_run(
    folder: str, prefix: str, mode: tuple[int, int, int, int], files: dict[str, Source]
) -> DreamlabRun:
    """The run in these files (epoch_stats, compute, fetch, tegrastats …), any of which may be missing."""
    run = DreamlabRun(folder, prefix, mode)
    _guarded(run, lambda: _read_minibatches(run, files))
    if source := files.get("tegrastats"):
        _guarded(run, lambda: _read_telemetry(run, files, source))
    else:
        run.unknown["power_mw"] = "the run has no tegrastats file"
    for what in KEPT_AS_TEXT:
        if what in files:
            _guarded(run, partial(_keep_text, run, what, files[what]))
    return run


def _guarded(run: DreamlabRun, step: Callable[[], Any]) -> None:
    """A file that cannot be read is the run's problem, not the zip's."""
    try:
        step()
    except FormatError as error:
        run.problems.append(Problem(0, "", "", error.message, run.name))


def _keep_text(run: DreamlabRun, what: str, source: Source) -> None:
    run.others[what] = source.whole().decode(errors="replace")


def _frame(run: DreamlabRun, source: Source) -> pd.DataFrame:
    """A small CSV as text, each row with its line; bad lines go to the run's problems."""
    rows = csv_rows.read_rows(source)
    pieces = []
    for batch in rows.batches:
        run.problems += [_placed(problem, source) for problem in batch.problems]
        columns = {name: np.array(batch.columns[name].to_pylist(), dtype=object) for name in rows.header}
        pieces.append(pd.DataFrame(columns | {"line": batch.lines}))
    return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=[*rows.header, "line"])


def _placed(problem: Problem, source: Source) -> Problem:
    return problem._replace(file=source.filename)


def _read_minibatches(run: DreamlabRun, files: dict[str, Source]) -> None:
    if "epoch_stats" not in files:
        raise FormatError(f"{run.folder} has no {run.prefix}_epoch_stats.csv, so no times")
    frame = _frame(run, files["epoch_stats"])
    if "epochtime_ms" not in frame or "log_time" not in frame:
        raise FormatError(f"{files['epoch_stats'].filename} lacks epochtime_ms or log_time")
    # Despite its name it is the time of a minibatch.
    frame["time_ms"] = _numbers(run, frame, "epochtime_ms", files["epoch_stats"], least=0)
    frame["log_time_s"] = _numbers(run, frame, "log_time", files["epoch_stats"], least=-np.inf)
    for what, source_name, name in (
        ("fetch", "fetchtime_ms", "fetch_ms"),
        ("compute", "computetime_ms", "compute_ms"),
    ):
        if what in files:
            _add_column(run, frame, files[what], source_name, name)
    frame = frame.dropna(subset=["time_ms", "log_time_s"])
    run.discarded = min(WARM_UP, len(frame))
    run.minibatches = frame.iloc[WARM_UP:].reset_index(drop=True)
    if not len(run.minibatches):
        run.unknown["time_ms"] = "the run has no minibatch after the first, which is a warm-up"


def _add_column(run: DreamlabRun, frame: pd.DataFrame, source: Source, column: str, name: str) -> None:
    other = _frame(run, source)
    if column in other and len(other) == len(frame):
        frame[name] = _numbers(run, other, column, source)
    else:
        reason = f"has {len(other)} rows beside {len(frame)} minibatches; left out"
        run.notes.append(Problem(0, column, "", reason, source.filename))


def _numbers(
    run: DreamlabRun, frame: pd.DataFrame, column: str, source: Source, least: float | None = None
) -> FloatArray:
    """The column as numbers (n,), NaN where a cell has none. least: what each must have more than."""
    texts = frame[column].tolist()
    values, unknown, bad = to_numbers(pa.array(texts, pa.string()))
    if least is not None:
        bad |= unknown | (values <= least)
    for place in np.flatnonzero(bad):
        reason = f"is not above {least:g}" if np.isfinite(values[place]) else why_no_number(texts[place])
        problem = Problem(int(frame.line[place]), column, shown(texts[place]), reason, source.filename)
        run.problems.append(problem)
    return np.where(bad, np.nan, values)


def _read_telemetry(run: DreamlabRun, files: dict[str, Source], source: Source) -> None:
    log = jtop.read(source, Options())
    run.problems += [_placed(problem, source) for problem in log.problems]
    run.notes += [_placed(note, source) for note in log.notes]
    if "log_time_s" not in log.columns:
        run.unknown["power_mw"] = "the tegrastats file has no log_time to match the minibatches with"
        run.telemetry = log
        return
    log_time = log.columns["log_time_s"]
    fine = np.isfinite(log_time) & (log_time >= np.fmax.accumulate(log_time))
    columns = {name: values for name, values in log.columns.where(fine).items() if name != "log_time_s"}
    columns["time_s"] = log_time[fine]
    for name, values in _clocks(run, files, log_time[fine]).items():
        columns[name] = values
    run.telemetry = replace(
        log, columns=Channels(columns), lines=log.lines[fine], repeated=log.repeated[fine]
    )
    _mean_power(run, columns, run.telemetry.repeated)


def _clocks(run: DreamlabRun, files: dict[str, Source], time_s: NDArray) -> dict[str, NDArray]:
    """cpu<n>_khz, gpu_khz, mem_khz at `time_s` (n,), from the dumps beside the log."""
    found: dict[str, NDArray] = {}
    for what, name_of in (
        ("cpufreq_stats", lambda name: f"cpu{int(name) - 1}_khz"),
        ("gpufreq_stats", lambda name: "gpu_khz" if name == "1" else f"gpu{int(name) - 1}_khz"),
    ):
        if what in files:
            frame = _frame(run, files[what])
            cells = {name_of(name): frame[name].map(_frequency) for name in frame if str(name).isdecimal()}
            found |= _nearest(frame, cells, time_s)
    if "emc_stats" in files:
        frame = _frame(run, files["emc_stats"])
        found |= _nearest(frame, {"mem_khz": frame["frq"]} if "frq" in frame else {}, time_s)
    return found


def _frequency(cell: object) -> float:
    """jtop's {'val': 20, 'frq': 1497000, …} in kHz; an offline core is {}."""
    found = FREQUENCY.search(str(cell))
    return float(found[1]) if found else np.nan


def _nearest(frame: pd.DataFrame, cells: dict[str, pd.Series], time_s: NDArray) -> dict[str, NDArray]:
    """Each column at the row nearest in log_time to `time_s`, unknown when over a second away."""
    if "log_time" not in frame or not len(frame):
        return {}
    at = pd.to_numeric(frame.log_time, errors="coerce").to_numpy(dtype=float)
    order = np.argsort(at)[: np.isfinite(at).sum()]
    if not len(order):
        return {}
    after = np.clip(np.searchsorted(at[order], time_s), 1, max(1, len(order) - 1))
    before, after = order[after - 1], order[np.minimum(after, len(order) - 1)]
    nearest = np.where(np.abs(at[before] - time_s) <= np.abs(at[after] - time_s), before, after)
    far = np.abs(at[nearest] - time_s) > NEAREST_S
    numbers = {
        name: pd.to_numeric(values, errors="coerce").to_numpy(dtype=float) for name, values in cells.items()
    }
    return {name: np.where(far, np.nan, values[nearest]) for name, values in numbers.items()}


def _mean_power(run: DreamlabRun, columns: dict[str, Any], repeated: NDArray[np.bool_]) -> None:
    """Mean of the fresh power samples while clean minibatches ran."""
    power, time_s = columns.get("power_total_mw"), columns["time_s"]
    if not isinstance(power, np.ndarray) or not len(run.minibatches):
        run.unknown["power_mw"] = "no power was logged beside the minibatches"
        return
    ends, first = run.minibatches.log_time_s, run.minibatches.time_ms.iloc[0] / 1000
    began = ends.iloc[0] - first + SETTLE_S
    inside = (time_s >= began) & (time_s <= ends.iloc[-1]) & ~repeated & (power > 0)
    run.power_samples = int(inside.sum())
    if run.power_samples:
        run.power_mw = float(power[inside].mean())
    else:
        run.unknown["power_mw"] = "no power sample falls between the clean minibatches"
