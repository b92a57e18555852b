"""Pages of rows as CSV, JSON or Parquet, a piece at a time, so that memory stays flat. No Django.

A page comes as columns: what a cell looks like is worked out once for all equal ones.
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

Columns = Mapping[str, type]  # name → int, float, str, bool, datetime or dict (JSON text)
Page = Sequence[Sequence[Any]]  # a sequence a column
Pages = Iterator[Page]
Writer = Callable[[Columns, Pages], Iterator[bytes]]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # full width too
QUOTED = f"^'('*[{re.escape(''.join(FORMULA))}])"  # what no_formula makes; its group is what it was


class Pipe(io.RawIOBase):
    """What was written since one last looked."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self.pieces.append(bytes(piece))
        return len(piece)

    def taken(self) -> bytes:
        piece, self.pieces = b"".join(self.pieces), []
        return piece


def as_csv(columns: Columns, pages: Pages) -> Iterator[bytes]:
    """UTF-8 with one header line; unknown is empty. Text that a spreadsheet would compute gets a quote."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    yield text.getvalue().encode()
    for page in pages:
        text.seek(0)
        text.truncate()
        cells = [_each(_CSV.get(kind), column) for kind, column in zip(columns.values(), page, strict=True)]
        writer.writerows(zip(*cells, strict=True))
        yield text.getvalue().encode()


def as_json(columns: Columns, pages: Pages) -> Iterator[bytes]:
    """{"runs": [one object a line]}; unknown is null."""
    line = "{" + ",".join(f"{_compact(name)}:%s" for name in columns) + "}"
    before = '{"runs":[\n'
    for page in pages:
        cells = [
            _each(_JSON.get(kind, _compact), column, none="null")
            for kind, column in zip(columns.values(), page, strict=True)
        ]
        yield (before + ",\n".join([line % row for row in zip(*cells, strict=True)])).encode()
        before = ",\n"
    yield ("" if before == ",\n" else before).encode() + b"\n]}\n"


def as_parquet(columns: Columns, pages: Pages) -> Iterator[bytes]:
    """A row group a page, zstd."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), datetime: pa.timestamp("us", "UTC")}
    schema = pa.schema([(name, types.get(kind, pa.string())) for name, kind in columns.items()])
    pipe = Pipe()
    with pq.ParquetWriter(pa.PythonFile(pipe, mode="w"), schema, compression="zstd") as writer:
        for page in pages:
            arrays = [pa.array(cells, field.type) for cells, field in zip(page, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
            yield pipe.taken()
    yield pipe.taken()


def zipped(name: str, pieces: Iterator[bytes], after: Callable[[], Mapping[str, bytes]]) -> Iterator[bytes]:
    """A zip of the pieces, and then of what can be said only when they have all gone by."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(name, "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                yield pipe.taken()
        for other, content in after().items():
            archive.writestr(other, content)
    yield pipe.taken()


def _each(change: Callable[[Any], Any] | None, cells: Sequence[Any], none: Any = None) -> Sequence[Any]:
    if change is None:
        return cells
    changed = {cell: none if cell is None else change(cell) for cell in set(cells)}
    return [changed[cell] for cell in cells]


def no_formula(text: str) -> str:
    """Text that is quoted so already gets another quote, so that each is read back as it was."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) else text


_CSV: dict[type, Callable[[Any], Any]] = {
    str: no_formula,
    dict: no_formula,
    bool: lambda value: "true" if value else "false",
    datetime: datetime.isoformat,
}
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_JSON: dict[type, Callable[[Any], Any]] = {
    int: str,
    float: repr,
    dict: lambda text: _compact(json.loads(text)),
    datetime: lambda moment: f'"{moment.isoformat()}"',
}
FORMATS: dict[str, tuple[str, Writer]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
}
