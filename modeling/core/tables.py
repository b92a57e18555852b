"""Measurement tables in the column layout of the Dream-Lab data: CSV in, `Measured` out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from modeling.core.prediction import Measured

# column -> factor to kHz, ms, mW; the public tables give CPU in kHz, GPU and memory in Hz, power in W
KNOB_FACTORS = {"cores": 1.0, "cpu": 1.0, "gpu": 1e-3, "mem": 1e-3}
VALUE_FACTORS = {"observed_time": 1.0, "observed_power": 1e3}
MINIBATCH = "bs"
SHOWN_ERRORS = 20


class TableError(ValueError):
    """The file is no such table; the message lists its bad lines."""


@dataclass(frozen=True)
class Table:
    """measured: one row a mode. repeated: how many modes stood in the file more than once (means taken)."""

    measured: Measured
    repeated: int


def read_table(path: Path | str, kind: str = "training", name: str | None = None) -> Table:
    """Read a CSV of cores, cpu (kHz), gpu, mem (Hz), observed_time (ms), observed_power (W), optional bs.

    Any subset of a board's grid will do. A mode that occurs more than once becomes one row with the mean of
    its times and powers. TableError where columns lack or values are not positive numbers.
    """
    path = Path(path)
    frame = _numbers(_frame(path), path)
    knob_columns = [*KNOB_FACTORS, *([MINIBATCH] if MINIBATCH in frame else [])]
    merged = frame.groupby(knob_columns, sort=False).mean().reset_index()
    repeated = int((frame.groupby(knob_columns).size() > 1).sum())
    factors = [KNOB_FACTORS.get(column, 1.0) for column in knob_columns]
    knobs = np.rint(merged[knob_columns].to_numpy() * factors).astype(np.int64)
    time, power = (merged[c].to_numpy(dtype=float) * factor for c, factor in VALUE_FACTORS.items())
    return Table(Measured(name or path.stem, knobs, time, power, kind), repeated)


def _frame(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path, dtype=str, skipinitialspace=True, skip_blank_lines=False)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise TableError(f"{path}: {error}") from error
    missing = [c for c in (*KNOB_FACTORS, *VALUE_FACTORS) if c not in frame]
    if missing:
        raise TableError(f"{path}: column {', '.join(missing)} is missing; found {', '.join(frame.columns)}")
    if frame.empty:
        raise TableError(f"{path}: no rows")
    return frame


def _numbers(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    columns = [c for c in (*KNOB_FACTORS, MINIBATCH, *VALUE_FACTORS) if c in frame]
    numbers = frame[columns].apply(pd.to_numeric, errors="coerce").astype(float)
    bad = np.argwhere(~(np.isfinite(numbers) & (numbers > 0)).to_numpy())
    if len(bad):
        # line 1 is the header
        lines = [f"line {row + 2}: {columns[c]} is {frame[columns[c]].iloc[row]!r}" for row, c in bad]
        more = f"\n… and {len(lines) - SHOWN_ERRORS} more" if len(lines) > SHOWN_ERRORS else ""
        shown = "\n".join(lines[:SHOWN_ERRORS])
        raise TableError(f"{path}: every value must be a positive number\n{shown}{more}")
    return numbers
