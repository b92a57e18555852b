"""What every table reader hands on: columns of raw cells, each row with the line it came from."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from profiling.formats.mapping import Column
from profiling.formats.problems import FileTooLarge, FormatError, Limits, Problem

ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class Batch:
    """Rows of a table: cells as text, or as numbers where the file stores numbers.

    lines: int (n,). columns: name → Arrow array (n,). problems: lines that could not become a row.
    """

    lines: NDArray[np.int64]
    columns: dict[str, pa.Array]
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True)
class Rows:
    """A table opened: its column names, and its rows, batch by batch.

    known: field → column, where the format itself settles it; missing: field → why the format cannot have it.
    """

    header: tuple[str, ...]
    batches: Iterator[Batch]
    known: dict[str, Column] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def named_header(cells: list[str], limits: Limits) -> tuple[str, ...]:
    """The names in a text's header, trimmed, and made up where they are empty."""
    return checked_header([cell.strip() or f"column {place}" for place, cell in enumerate(cells, 1)], limits)


def checked_header(names: list[str], limits: Limits) -> tuple[str, ...]:
    """The names; FormatError for doubled ones, FileTooLarge for too many."""
    if len(names) > limits.columns:
        raise FileTooLarge(f"the table has {len(names):,} columns; at most {limits.columns:,} are read")
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise FormatError(
            f"more than one column is called {', '.join(map(repr, doubled))}: rename all but one"
        )
    return tuple(names)


def text_batch(
    lines: list[int], rows: list[dict[str, str]], names: list[str], problems: list[Problem]
) -> Batch:
    """Rows given as dicts of text; a cell that a row lacks is empty."""
    columns = {name: pa.array([row.get(name, "") for row in rows], pa.string()) for name in names}
    return Batch(np.asarray(lines, dtype=np.int64), columns, problems)


def as_text(cells: pa.Array) -> pa.Array:
    """Any cells as text, empty where null."""
    if pa.types.is_string(cells.type) and not cells.null_count:
        return cells
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if (
        pa.types.is_nested(cells.type)
        or pa.types.is_binary(cells.type)
        or pa.types.is_large_binary(cells.type)
    ):
        return pa.array(["" if cell is None else str(cell) for cell in cells.to_pylist()], pa.string())
    if pa.types.is_duration(cells.type):  # as a bare number it would take the header's unit for its own
        count = cells.cast(pa.int64()).cast(pa.string())
        return pc.fill_null(pc.binary_join_element_wise(count, cells.type.unit, " "), "")
    return pc.fill_null(cells.cast(pa.string()), "")


def check_rows(rows: int, limits: Limits) -> None:
    if rows > limits.rows:
        raise FileTooLarge(f"the table has more than {limits.rows:,} rows; split it")


def check_cells(rows: int, columns: int, limits: Limits) -> None:
    if rows * columns > limits.log_cells:
        raise FileTooLarge(
            f"the log has more than {limits.log_cells // columns:,} rows of {columns} columns; split it"
        )
