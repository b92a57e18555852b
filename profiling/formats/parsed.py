"""A table read: what `read` gives for CSV, Excel, Parquet and JSON."""

from dataclasses import dataclass

import pandas as pd

from profiling.formats.mapping import Mapping
from profiling.formats.problems import Problem


@dataclass(frozen=True)
class Parsed:
    """A table read.

    rows: the good lines; columns `line` and the fields found: knobs and minibatch as Int64 (NA unknown),
    times in ms, power in mW, energy in mJ as float (NaN unknown). extras: every other column as it was.
    row_count: all rows seen, good or bad. problems: what is wrong, up to a limit; problem_count: all of them.
    notes: oddities that cost no line. unknown: field → why it is unknown in the whole file. member: its name
    in a zip.
    """

    rows: pd.DataFrame
    extras: pd.DataFrame
    problems: list[Problem]
    problem_count: int
    notes: list[Problem]
    unknown: dict[str, str]
    row_count: int
    mapping: Mapping
    format: str = "table"
    member: str = ""

    def __len__(self) -> int:
        return len(self.rows)
