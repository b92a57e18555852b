"""The rows of a table, gathered and checked."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from profiling.errors import InvalidInput
from profiling.formats.agreement import apart, told_twice
from profiling.formats.batches import Batch, as_text
from profiling.formats.checks import BoolArray, FloatArray
from profiling.formats.columns import FIELDS, KNOBS, OUTCOMES, Field
from profiling.formats.field_check import FieldCheck
from profiling.formats.mapping import Mapping
from profiling.formats.parsed import Parsed
from profiling.formats.plausible import PLAUSIBLE, Hints, strays
from profiling.formats.problems import FormatError, Limits, ProblemList
from profiling.formats.repeats import Repeated, report_contradictions, report_copies, table_repeats

UNMEASURED = ("pending", "claimed", "failed", "cancelled", "superseded")  # of runs taken from a lab


@dataclass
class TableReader:
    """`take` every batch, then `finish`; only good rows are held."""

    mapping: Mapping
    hints: Hints
    limits: Limits
    missing: dict[str, str] = field(default_factory=dict)
    name_of: Callable[[int], str] = "line {}".format  # what a row is called where another speaks of it
    row_count: int = 0
    passed_over: int = 0
    lines: list[NDArray[np.int64]] = field(default_factory=list)
    values: dict[str, list[FloatArray]] = field(default_factory=dict)
    extras: list[pa.Table] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problems = ProblemList(self.limits.problems)
        self.notes = ProblemList(self.limits.problems)
        self.values = {name: [] for name in self.mapping.fields}
        self.checks = [self._check(FIELDS[name]) for name in self.mapping.fields]
        self._check_constants()

    def _check(self, field: Field) -> FieldCheck:
        column, unit = self.mapping.fields[field.name]
        steps = self.hints.steps(field.name) if field.name in KNOBS else ()
        return FieldCheck(field, column, unit, self.mapping.decimal, steps, self.problems)

    def _check_constants(self) -> None:
        for name, value in self.mapping.constants.items():
            steps = self.hints.steps(name) if name in KNOBS else ()
            if steps and value not in steps:
                raise InvalidInput(f"{name} {value:.10g} is not one of {', '.join(map(str, steps))}")

    def take(self, batch: Batch) -> None:
        self.row_count += len(batch) + len(batch.problems)
        self.problems.extend(batch.problems)
        self.notes.extend(batch.notes)
        batch = self._asked_for(batch)
        checked = {check.field.name: check.check(batch) for check in self.checks}
        good = ~np.logical_or.reduce([field.bad for field in checked.values()])
        good &= ~self._unmeasured(batch)
        good &= ~self._without_outcome({name: field.values for name, field in checked.items()}, batch, good)
        self.lines.append(batch.lines[good])
        for name, found in checked.items():
            self.values[name].append(found.values[good])
        self.extras.append(self._extras(batch, good))

    def _asked_for(self, batch: Batch) -> Batch:
        """The rows that the mapping's `only` lets through."""
        keep = np.ones(len(batch), dtype=bool)
        for name, value in self.mapping.only.items():
            if name in batch.columns:
                keep &= np.asarray(pc.equal(as_text(batch.columns[name]), value))
        if keep.all():
            return batch
        self.passed_over += int((~keep).sum())
        columns = {name: cells.filter(pa.array(keep)) for name, cells in batch.columns.items()}
        return Batch(batch.lines[keep], columns)

    def _unmeasured(self, batch: Batch) -> BoolArray:
        if "state" not in batch.columns:
            return np.zeros(len(batch), dtype=bool)
        states = as_text(batch.columns["state"])
        found = np.asarray(pc.is_in(states, pa.array(UNMEASURED)))
        told = states.filter(pa.array(found)).to_pylist()
        self.problems.add_many(batch.lines[found], "state", told, lambda _: "is no measurement")
        return found

    def _without_outcome(self, values: dict[str, FloatArray], batch: Batch, good: BoolArray) -> BoolArray:
        outcomes = [values[name] for name in OUTCOMES if name in values]
        if not outcomes:
            return np.zeros(len(batch), dtype=bool)
        nothing = np.logical_and.reduce([np.isnan(column) for column in outcomes]) & good
        lines = batch.lines[nothing]
        self.problems.add_many(lines, "", [""] * len(lines), lambda _: "has no measured value")
        return nothing

    def _extras(self, batch: Batch, good: BoolArray) -> pa.Table:
        taken = {check.column for check in self.checks} - self._kept_besides()
        kept = {name: cells for name, cells in batch.columns.items() if name not in taken}
        return pa.table(kept).filter(pa.array(good)) if kept else pa.table({})

    def _kept_besides(self) -> set[str]:
        """A run has no field for its rate: beside a time, the column is kept as it was."""
        both = {"time_ms", "throughput_per_s"} <= self.mapping.fields.keys()
        return {self.mapping.fields["throughput_per_s"].column} if both else set()

    def finish(self, repeats: Repeated) -> Parsed:
        lines = np.concatenate([np.zeros(0, dtype=np.int64), *self.lines])
        columns = {name: np.concatenate([np.zeros(0), *self.values.pop(name)]) for name in list(self.values)}
        extras = _join(self.extras)
        apart = [extras.column(name) for name in self.mapping.apart if name in extras.column_names]
        found = table_repeats(columns, apart)
        report_copies(self.notes, lines, found, self.name_of)
        refuse = repeats == "refuse"
        report_contradictions(self.problems if refuse else self.notes, lines, columns, found, self.name_of)
        stray = self._strays(lines, columns)
        bad = stray | found.differing if refuse else stray
        if bad.any():
            keep = ~bad
            lines, columns = lines[keep], {name: column[keep] for name, column in columns.items()}
            extras = extras.filter(pa.array(keep)) if extras.num_columns else extras
        self._note_twice(lines, columns)
        for check in self.checks:
            check.note(self.notes)
        self._note_passed_over()
        return self._parsed(lines, columns, extras)

    def _note_passed_over(self) -> None:
        if not self.passed_over:
            return
        asked = " or ".join(f"{name} is not {value}" for name, value in self.mapping.only.items())
        if self.passed_over == self.row_count:
            raise FormatError(f"no line is left to import: in each of the {self.row_count:,}, {asked}")
        self.notes.add(0, "", "", f"{self.passed_over:,} rows were passed over, as asked: {asked}")

    def _strays(self, lines: NDArray[np.int64], columns: dict[str, FloatArray]) -> BoolArray:
        """Rows whose time, power or energy is far from all others and from what a board can do."""
        bad = np.zeros(len(lines), dtype=bool)
        for name in PLAUSIBLE.keys() & columns.keys():
            stray = strays(columns[name], self.hints.range(name) or PLAUSIBLE[name])
            if stray.any():
                self._report_strays(name, lines[stray], columns[name][stray], np.nanmedian(columns[name]))
                bad |= stray
        return bad

    def _report_strays(
        self, name: str, lines: NDArray[np.int64], values: FloatArray, typical: np.floating
    ) -> None:
        field = FIELDS[name]
        told = [field.told(value) for value in values]
        reason = f"is far from the others, typically {field.told(float(typical))}: in another unit? "
        reason += "If it is right, send such lines as a file of their own"
        self.problems.add_many(lines, self.mapping.fields[name].column, told, lambda _: reason)

    def _note_twice(self, lines: NDArray[np.int64], columns: dict[str, FloatArray]) -> None:
        for column in self._kept_besides():
            self.notes.add(
                0, column, "", "is kept as it is beside the time, and tells it where that is unknown"
            )
        minibatch = self.mapping.constants.get("minibatch", self.hints.minibatch)
        for twice in told_twice(columns, minibatch):
            said, field = columns[twice.field], FIELDS[twice.field]
            found = apart(said, twice.made)
            if not len(found.places):
                continue
            first = found.places[0]
            made, rows = field.told(twice.made[first]), f"{len(found.places):,} of {len(lines):,} rows"
            reason = f"is not what {twice.how} makes, {made}: so in {rows}, {found.shown()}"
            column = self.mapping.fields[twice.field].column
            self.notes.add(lines[first], column, field.told(said[first]), reason)

    def _parsed(self, lines: NDArray[np.int64], columns: dict[str, FloatArray], extras: pa.Table) -> Parsed:
        constants = {name: np.full(len(lines), value) for name, value in self.mapping.constants.items()}
        found = columns | constants
        columns.clear()  # each is let go as its typed twin is made
        typed = {name: _typed(FIELDS[name], found.pop(name)) for name in FIELDS if name in found}
        kept = extras.to_pandas(types_mapper=pd.ArrowDtype) if extras.num_columns else None
        return Parsed(
            rows=pd.DataFrame({"line": lines} | typed, copy=False),
            extras=pd.DataFrame(index=range(len(lines))) if kept is None else kept,
            problems=self.problems.sorted(),
            problem_count=len(self.problems),
            notes=self.notes.sorted(),
            unknown=self._unknown(set(typed)),
            row_count=self.row_count,
            mapping=self.mapping,
        )

    def _unknown(self, given: set[str]) -> dict[str, str]:
        return {
            name: self.missing.get(name, f"the file has no column for the {FIELDS[name].title}")
            for name in (*KNOBS, "minibatch", "time_ms", "power_mw")
            if name not in given
        }


def _typed(field: Field, values: FloatArray) -> FloatArray | pd.arrays.IntegerArray:
    if not field.whole:
        return values
    unknown = np.isnan(values)
    return pd.arrays.IntegerArray(np.where(unknown, 0, values).astype(np.int64), unknown)


def _join(tables: list[pa.Table]) -> pa.Table:
    """One table; a column whose type changes on the way (a JSON name that comes late) becomes text."""
    tables = [table for table in tables if table.num_columns]
    if not tables:
        return pa.table({})
    try:
        joined = pa.concat_tables(tables, promote_options="default")
    except pa.ArrowInvalid:
        joined = pa.concat_tables([_all_text(table) for table in tables], promote_options="default")
    return joined.combine_chunks()  # rows picked by place from many chunks take twenty times as long


def _all_text(table: pa.Table) -> pa.Table:
    return pa.table({name: as_text(table.column(name).combine_chunks()) for name in table.column_names})
