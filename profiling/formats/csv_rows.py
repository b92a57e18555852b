"""Rows of CSV, TSV and their kin: by Arrow where a piece of the file is sound, line by line where not."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from profiling.formats.batches import Batch, Rows, check_rows, named_header
from profiling.formats.columns import recognise
from profiling.formats.problems import FileTooLarge, FormatError, Limits, Problem, shown
from profiling.formats.source import Source
from profiling.writers import QUOTED

BLOCK_BYTES = 1 << 21
MOST_LINES_IN_A_CELL = 50  # a record longer than this is a quote somebody forgot to close
DELIMITERS = ",\t;|"
BOM = b"\xef\xbb\xbf"
SEPARATOR = re.compile(rb'"?sep=([,;\t|])"?')
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    header: tuple[str, ...]
    header_line: int  # 0: the file has none


def read_rows(source: Source, delimiter: str | None = None) -> Rows:
    dialect = sniff_dialect(source.head, source.limits, delimiter)
    return Rows(dialect.header, _batches(source, dialect))


def sniff_dialect(head: bytes, limits: Limits, delimiter: str | None = None) -> Dialect:
    if head.startswith(WIDE_BOMS):
        raise FormatError("the text is UTF-32; save it as UTF-8")
    if not head.strip():
        raise FormatError("the file is empty")
    head = _unix(head.removeprefix(BOM))
    number, line = _first_line(head)
    if told := SEPARATOR.fullmatch(line):  # as Excel likes to be told
        delimiter = told[1].decode()
        number, line = _first_line(b"#" + head)
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        reason = (
            f"line {number}, the header, is not UTF-8 text (byte {error.start + 1}); save the file as UTF-8"
        )
        raise FormatError(reason) from error
    if "\0" in text:
        raise FormatError(f"line {number} holds NUL bytes: this is not a text file")
    delimiter = delimiter or _delimiter(text)
    cells = _split(text, delimiter)
    if cells is None:
        raise FormatError(f"line {number}, the header, opens a quote that it does not close")
    if len(cells) == 1 and sum(bool(recognise(word)) for word in text.split()) > 1:
        raise FormatError("the columns are parted by blanks; part them by commas, semicolons or tabs")
    if all(_is_number(cell) for cell in cells):
        return Dialect(delimiter, named_header([""] * len(cells), limits), 0)
    return Dialect(delimiter, named_header(cells, limits), number)


def _first_line(head: bytes) -> tuple[int, bytes]:
    """The first line that is neither blank nor a # comment, and its number."""
    for number, line in enumerate(head.split(b"\n"), 1):
        if line.strip() and not line.startswith(b"#"):
            return number, line
    raise FormatError("the file has no header and no rows")


def _delimiter(line: str) -> str:
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _split(line: str, delimiter: str) -> list[str] | None:
    """The cells of one line; None when its quotes do not close."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


def _batches(source: Source, dialect: Dialect) -> Iterator[Batch]:
    line, rows = 1, 0
    with source.open() as stream:
        for block in _blocks(stream, source.limits):
            count = block.count(b"\n")
            skip = min(max(0, dialect.header_line - line + 1), count)
            batch = _parse(block, line, count, skip, dialect)
            line += count
            rows += len(batch)
            check_rows(rows, source.limits)
            yield batch


def _blocks(stream: BinaryIO, limits: Limits) -> Iterator[bytes]:
    """The file in pieces that end with a line end, all line ends made \\n, quoted cells kept whole."""
    rest = stream.read(len(BOM)).removeprefix(BOM)
    while piece := stream.read(BLOCK_BYTES):
        if piece.endswith(b"\r"):
            piece += stream.read(1)
        rest += _unix(piece)
        cut = _last_record_end(rest)
        if cut == 0 and len(rest) > limits.line_bytes + BLOCK_BYTES:
            raise FileTooLarge(f"a line is longer than {limits.line_bytes:,} bytes")
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Line by line with its number; bytes that are not UTF-8 become U+FFFD."""
    number = 0
    with source.open() as stream:
        for block in _blocks(stream, source.limits):
            for line in block.decode(errors="replace").split("\n")[:-1]:
                number += 1
                if number > source.limits.rows:
                    check_rows(number, source.limits)
                yield number, line


def _unix(piece: bytes) -> bytes:
    return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in piece else piece


def _last_record_end(text: bytes) -> int:
    """Where the last line ends that leaves no quote open; the very last, if a quote stays open too long."""
    end = text.rfind(b"\n") + 1
    for _ in range(MOST_LINES_IN_A_CELL):
        if end == 0 or text.count(b'"', 0, end) % 2 == 0:
            return end
        end = text.rfind(b"\n", 0, end - 1) + 1
    return text.rfind(b"\n") + 1


def _parse(block: bytes, first_line: int, count: int, skip: int, dialect: Dialect) -> Batch:
    block, problems = _blank_bad_lines(block, first_line)
    for _ in range(skip):
        block = block[block.index(b"\n") + 1 :]
    first_line += skip
    lines = _record_lines(block, first_line, count - skip)
    batch = None if lines is None or not block else _parse_fast(block, lines, dialect)
    if batch is None:
        batch = _parse_line_by_line(block, first_line, dialect)
    columns = _unquoted(batch.columns) if b"'" in block else batch.columns
    return Batch(batch.lines, columns, problems + batch.problems)


def _unquoted(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Without the quote that keeps a spreadsheet from computing a text, as our own files have it."""
    return {
        name: pc.replace_substring_regex(cells, QUOTED, r"\1")
        if pc.any(pc.starts_with(cells, "'")).as_py()
        else cells
        for name, cells in columns.items()
    }


def _blank_bad_lines(block: bytes, first_line: int) -> tuple[bytes, list[Problem]]:
    """Lines that are not clean UTF-8 text are reported and emptied, so that the rest keeps its numbers."""
    if b"\0" not in block and (block.isascii() or _is_utf8(block)):
        return block, []
    lines, problems = block.split(b"\n"), []
    for place, line in enumerate(lines):
        if reason := _why_not_text(line):
            problems.append(Problem(first_line + place, "", shown(line.decode(errors="replace")), reason))
            lines[place] = b""
    return b"\n".join(lines), problems


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _why_not_text(line: bytes) -> str | None:
    if b"\0" in line:
        return "holds NUL bytes"
    return None if _is_utf8(line) else "is not UTF-8 text"


def _record_lines(block: bytes, first_line: int, count: int) -> NDArray[np.int64] | None:
    """The line each record of the block's `count` lines starts on, (records,); None: quotes in disorder."""
    if b'"' not in block:
        return np.arange(first_line, first_line + count)
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    open_quote = np.searchsorted(np.flatnonzero(text == ord('"')), ends) & 1
    closed = np.flatnonzero(open_quote == 0)
    starts = np.concatenate([[0], closed + 1])
    if open_quote[-1] or np.diff(starts).max() > MOST_LINES_IN_A_CELL:
        return None
    return first_line + starts[:-1]


def _parse_fast(block: bytes, lines: NDArray[np.int64], dialect: Dialect) -> Batch | None:
    """All cells as text by Arrow; None where Arrow and our own count of records disagree."""
    names = list(dialect.header)
    wrong: list[pyarrow.csv.InvalidRow] = []

    def keep_wrong(row: pyarrow.csv.InvalidRow) -> str:
        wrong.append(row)
        return "skip"

    try:
        table = pyarrow.csv.read_csv(
            io.BytesIO(block),
            pyarrow.csv.ReadOptions(use_threads=False, column_names=names, block_size=len(block) + 1),
            pyarrow.csv.ParseOptions(
                delimiter=dialect.delimiter,
                newlines_in_values=b'"' in block,
                ignore_empty_lines=False,
                invalid_row_handler=keep_wrong,
            ),
            pyarrow.csv.ConvertOptions(
                check_utf8=False,
                column_types={name: pa.string() for name in names},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows + len(wrong) != len(lines):
        return None
    bad = np.array([row.number - 1 for row in wrong], dtype=np.int64)
    problems = [
        Problem(int(lines[row.number - 1]), "", shown(row.text), _wrong_count(row.actual_columns, len(names)))
        for row in wrong
        if row.text.strip()
    ]
    columns = {name: table.column(name).combine_chunks() for name in names}
    return without_blank(Batch(np.delete(lines, bad) if len(bad) else lines, columns, problems))


def without_blank(batch: Batch) -> Batch:
    """Arrow makes an empty line a row of empty cells; spreadsheets write those for rows below the table."""
    blank = np.ones(len(batch), dtype=bool)
    for cells in batch.columns.values():
        blank &= np.asarray(pc.equal(cells, ""))
        if not blank.any():
            return batch
    keep = pa.array(~blank)
    columns = {name: cells.filter(keep) for name, cells in batch.columns.items()}
    return Batch(batch.lines[~blank], columns, batch.problems)


def _wrong_count(found: int, expected: int) -> str:
    return f"has {found} fields instead of {expected}"


def _parse_line_by_line(block: bytes, first_line: int, dialect: Dialect) -> Batch:
    """Each line for itself, so that one stray quote costs one line."""
    lines: list[int] = []
    rows: list[list[str]] = []
    problems: list[Problem] = []
    for number, line in enumerate(block.decode().split("\n"), first_line):
        if not line.strip():
            continue
        cells = _split(line, dialect.delimiter)
        if cells is None:
            problems.append(Problem(number, "", shown(line), "opens a quote that it does not close"))
        elif len(cells) != len(dialect.header):
            problems.append(Problem(number, "", shown(line), _wrong_count(len(cells), len(dialect.header))))
        elif any(cells):
            lines.append(number)
            rows.append(cells)
    columns = {
        name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(dialect.header)
    }
    return Batch(np.asarray(lines, dtype=np.int64), columns, problems)
