"""Pages of rows as CSV, JSON or Parquet, a piece at a time, so that memory stays flat. No Django."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

Columns = Mapping[str, type]  # name → int, float, str, bool, datetime or dict (JSON text)
Pages = Iterator[Sequence[Sequence[Any]]]
Writer = Callable[[Columns, Pages], Iterator[bytes]]
FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
    plain = [_CSV.get(kind) for kind in columns.values()]
    changed = [(place, to_text) for place, to_text in enumerate(plain) if to_text]
    yield text.getvalue().encode()
    for page in pages:
        text.seek(0)
        text.truncate()
        writer.writerows(_changed(row, changed) for row in page)
        yield text.getvalue().encode()


def as_json(columns: Columns, pages: Pages) -> Iterator[bytes]:
    """{"runs": [one object a line]}; unknown is null."""
    plain = [_JSON.get(kind) for kind in columns.values()]
    changed = [(place, to_json) for place, to_json in enumerate(plain) if to_json]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    names = tuple(columns)
    before = b'{"runs":[\n'
    for page in pages:
        lines = (encode(dict(zip(names, _changed(row, changed), strict=True))) for row in page)
        yield before + ",\n".join(lines).encode()
        before = b",\n"
    yield (b"" if before == b",\n" else before) + b"\n]}\n"


def as_parquet(columns: Columns, pages: Pages) -> Iterator[bytes]:
    """A row group a page, zstd."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), datetime: pa.timestamp("us", "UTC")}
    schema = pa.schema([(name, types.get(kind, pa.string())) for name, kind in columns.items()])
    pipe = Pipe()
    with pq.ParquetWriter(pa.PythonFile(pipe, mode="w"), schema, compression="zstd") as writer:
        for page in pages:
            by_column = zip(*page, strict=True)
            arrays = [pa.array(cells, field.type) for cells, field in zip(by_column, schema, strict=True)]
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


def _changed(row: Sequence[Any], changed: list[tuple[int, Callable[[Any], Any]]]) -> list[Any]:
    cells = list(row)
    for place, change in changed:
        if cells[place] is not None:
            cells[place] = change(cells[place])
    return cells


def no_formula(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text


_CSV: dict[type, Callable[[Any], Any]] = {
    str: no_formula,
    dict: no_formula,
    bool: lambda value: "true" if value else "false",
    datetime: datetime.isoformat,
}
_JSON: dict[type, Callable[[Any], Any]] = {dict: json.loads, datetime: datetime.isoformat}
FORMATS: dict[str, tuple[str, Writer]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
}
