"""One field of a table checked, batch by batch: above zero, whole where it must be, clocks legal."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from profiling.formats.batches import Batch, as_text
from profiling.formats.checks import BoolArray, FloatArray, nearest_step, snap, to_numbers, why_no_number
from profiling.formats.columns import Field
from profiling.formats.problems import ProblemList

LARGEST = 2**31 - 1  # what PostgreSQL keeps of a whole number


class Checked(NamedTuple):
    """values float (n,) in the field's own unit, NaN unknown; bad: bool (n,)."""

    values: FloatArray
    bad: BoolArray


@dataclass
class FieldCheck:
    """Reports to `problems`; remembers what was rounded and what was unknown for `note`."""

    field: Field
    column: str
    unit: str
    decimal: str
    steps: tuple[int, ...]
    problems: ProblemList
    # kHz before → first line, kHz after, rows
    rounded: dict[float, list[int]] = dataclasses.field(default_factory=dict)
    unknown_rows: int = 0
    first_unknown: int = 0

    def check(self, batch: Batch) -> Checked:
        cells = batch.columns.get(self.column)
        if cells is None:  # a name that no JSON record of this batch has
            cells = pa.array([""] * len(batch), pa.string())
        numbers = to_numbers(cells, self.decimal)
        values = numbers.values * self.field.factor(self.unit)
        self._count_unknown(batch.lines[numbers.unknown])
        bad = numbers.bad.copy()
        self._report(batch, cells, bad, why_no_number)
        bad |= self._report(batch, cells, ~bad & (values < 0), lambda _: "is negative")
        bad |= self._report(batch, cells, ~bad & (values == 0), lambda _: "is zero")
        if not self.field.whole:
            return Checked(values, bad)
        if self.steps:
            return self._to_steps(batch, cells, values, bad)
        return self._to_whole(batch, cells, values, bad)

    def _to_whole(self, batch: Batch, cells: pa.Array, values: FloatArray, bad: BoolArray) -> Checked:
        whole = np.round(values)
        huge = ~bad & (whole > LARGEST)
        bad |= self._report(batch, cells, huge, lambda _: "is too large")
        if self.unit == "":
            bad |= self._report(
                batch, cells, ~bad & (whole != values) & ~np.isnan(values), lambda _: "is not a whole number"
            )
        return Checked(whole, bad)

    def _to_steps(self, batch: Batch, cells: pa.Array, values: FloatArray, bad: BoolArray) -> Checked:
        snapped = snap(values, self.steps, tolerant=self.unit != "")
        self._count_rounded(batch.lines, values, snapped.values, np.flatnonzero(snapped.moved & ~bad))
        illegal = ~bad & ~snapped.legal
        nearest = nearest_step(values[illegal], self.steps) / self.field.factor(self.unit)

        def reason(place: int) -> str:
            step = f"{nearest[place]:.10g} {self.unit}".rstrip()
            return f"is none of the steps this board has for its {self.field.title}; the nearest is {step}"

        lines = batch.lines[illegal]
        self.problems.add_many(lines, self.column, _cells(cells, illegal), reason)
        return Checked(snapped.values, bad | illegal)

    def _report(
        self, batch: Batch, cells: pa.Array, bad: BoolArray, reason: Callable[[str], str]
    ) -> BoolArray:
        if bad.any():
            texts = _cells(cells, bad)

            def why(place: int) -> str:
                return "repeats the header" if texts[place] == self.column else reason(texts[place])

            self.problems.add_many(batch.lines[bad], self.column, texts, why)
        return bad

    def _count_unknown(self, lines: NDArray[np.int64]) -> None:
        if len(lines):
            self.first_unknown = self.first_unknown or int(lines[0])
            self.unknown_rows += len(lines)

    def _count_rounded(
        self, lines: NDArray[np.int64], before: FloatArray, after: FloatArray, moved: NDArray[np.intp]
    ) -> None:
        distinct, firsts, counts = np.unique(before[moved], return_index=True, return_counts=True)
        for value, first, count in zip(distinct, moved[firsts], counts, strict=True):
            entry = self.rounded.setdefault(float(value), [int(lines[first]), int(after[first]), 0])
            entry[2] += int(count)

    def note(self, notes: ProblemList) -> None:
        for before, (line, after, rows) in self.rounded.items():
            reason = f"is taken as the legal step {after} kHz in {rows} rows"
            notes.add(line, self.column, f"{before:.10g} kHz", reason)
        if self.unknown_rows:
            notes.add(
                self.first_unknown,
                self.column,
                "",
                f"is unknown in {self.unknown_rows} row{'s' * (self.unknown_rows != 1)}",
            )


def _cells(cells: pa.Array, where: BoolArray) -> list[str]:
    return as_text(cells.filter(pa.array(where))).to_pylist()
