"""Telemetry read from a log: columns over time, named as the agent names its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from profiling.formats.channels import Channel, Channels
from profiling.formats.problems import Problem

ABSENT_C = -256.0  # what a switched-off temperature zone reads


@dataclass(frozen=True)
class Log:
    """A telemetry log.

    columns: time_s (from the first row), power_<rail>_mw, power_total_mw, cpu<n>_khz, gpu_khz, mem_khz,
    load_<unit>_pct, temp_<zone>_c; what we do not know keeps its own name. lines: int (n,). repeated:
    bool (n,), the sensors had nothing new to say. started: the first row's own clock, zone unknown.
    unknown: column → why the log cannot say it.
    member: the file's name in its zip.
    """

    format: str
    columns: Channels
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

    def telemetry(self) -> dict[str, Channel]:
        """All that says something new; empty when the log has no time."""
        return dict(self.columns.where(~self.repeated)) if "time_s" in self.columns else {}

    def chunks(self) -> Iterator[dict[str, Channel]]:
        """The same, some rows at a time."""
        return (block for block in self.columns.where(~self.repeated).blocks() if len(block["time_s"]))


def columns_of(rows: Sequence[dict[str, float | str | None]]) -> dict[str, Channel]:
    """Rows as columns: numbers, or text where any row holds text; what lacks is unknown."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _column(cells: list[float | str | None]) -> Channel:
    if any(isinstance(cell, str) for cell in cells):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)


def same_as_above(values: Channel) -> NDArray[np.bool_]:
    """Which say what the one before said, unknown being like unknown, bool (n,); the first never does."""
    same = np.zeros(len(values), dtype=bool)
    if isinstance(values, np.ndarray):
        same[1:] = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    else:
        text = pc.fill_null(values, "\0")  # no text holds it
        same[1:] = np.asarray(pc.equal(text[1:], text[:-1]))
    return same


def celsius(value: float) -> float:
    return np.nan if value <= ABSENT_C else value
