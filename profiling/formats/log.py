"""Telemetry read from a log: columns over time, named as the agent names its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiling.formats.problems import Problem

ABSENT_C = -256.0  # what a switched-off temperature zone reads


@dataclass(frozen=True)
class Log:
    """A telemetry log.

    columns: name → (n,) float array, NaN unknown, or list of text, None unknown. time_s (from the first row),
    power_<rail>_mw, power_total_mw, cpu<n>_khz, gpu_khz, mem_khz, load_<unit>_pct, temp_<zone>_c; what we
    do not know keeps its own name. lines: int (n,). repeated: bool (n,), the sensors had nothing new to say.
    started: the first row's own clock, zone unknown. unknown: column → why the log cannot say it.
    member: the file's name in its zip.
    """

    format: str
    columns: dict[str, Any]
    lines: NDArray[np.int64]
    repeated: NDArray[np.bool_]
    problems: list[Problem]
    problem_count: int
    notes: list[Problem]
    line_count: int
    started: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)
    member: str = ""

    def __len__(self) -> int:
        return len(self.lines)

    def telemetry(self) -> dict[str, list[Any]]:
        """The rows that say something new, as plain columns; empty when the log has no time."""
        if "time_s" not in self.columns:
            return {}
        fresh = np.flatnonzero(~self.repeated)
        return {name: [_plain(values[place]) for place in fresh] for name, values in self.columns.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return None if np.isnan(value) else float(value)


def columns_of(rows: Sequence[dict[str, float | str | None]]) -> dict[str, Any]:
    """Rows as columns: float arrays, or lists of text where any row holds text; what lacks is unknown."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _column(cells: list[float | str | None]) -> Any:
    if any(isinstance(cell, str) for cell in cells):
        return [None if cell is None else str(cell) for cell in cells]
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)


def celsius(value: float) -> float:
    return np.nan if value <= ABSENT_C else value
