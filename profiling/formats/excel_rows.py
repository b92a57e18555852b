"""Rows of the first sheet of an Excel workbook that has any; formulas give their stored values.

A formula that no spreadsheet computed yet has none: its text is given, a bad cell and not an empty one.
"""

import datetime
import io
import re
import xml.etree.ElementTree as ET  # noqa: S405  only to name its error
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from profiling.formats.batches import ROWS_AT_ONCE, Batch, Rows, check_rows, named_header, text_batch
from profiling.formats.problems import FileTooLarge, FormatError, Problem
from profiling.formats.source import ZIP, ZIP_ERRORS, Source, check_expansion

# openpyxl has no error of its own for a workbook that breaks its promises.
BROKEN = (KeyError, TypeError, AttributeError, IndexError, ET.ParseError, InvalidFileException, *ZIP_ERRORS)
SHEET = "xl/worksheets/"
FORMULA = re.compile(rb"<f[ >]")
RAGGED = "has more cells than the header"
FURTHER = "is a further sheet of the workbook, which is not read; send it as a file of its own"


def read_rows(source: Source) -> Rows:
    with _broken_is_said(source):
        sheet, formulas, others = _sheets(source)
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = [_text(cell) for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                header = named_header(cells, source.limits)
                return Rows(header, _batches(source, _rows(sheet, formulas, number + 1), header, others))
    raise FormatError(f"{source.filename} has no filled cell")


@contextmanager
def _broken_is_said(source: Source) -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except BROKEN as error:
        raise FormatError(f"{source.filename} is a broken Excel workbook: {error}") from error


def _sheets(source: Source) -> tuple[ReadOnlyWorksheet, ReadOnlyWorksheet | None, list[str]]:
    """The first sheet with a filled cell, the same with formulas if any, and the names of further ones."""
    content = source.whole()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_size(source, len(content), archive.infolist())
        has_formulas = any(_has_formula(archive, name) for name in archive.namelist() if SHEET in name)
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    filled = [sheet for sheet in book.worksheets if _is_filled(sheet)]
    if not filled:
        raise FormatError(f"{source.filename} has no filled cell in the first 50 rows of any sheet")
    others = [sheet.title for sheet in filled[1:]]
    if not has_formulas:
        return filled[0], None, others
    formulas = openpyxl.load_workbook(io.BytesIO(content), read_only=True)[filled[0].title]
    formulas.reset_dimensions()
    return filled[0], formulas, others


def _has_formula(archive: zipfile.ZipFile, name: str) -> bool:
    end = b""
    with archive.open(name) as sheet:
        while piece := sheet.read(1 << 20):
            if FORMULA.search(end + piece):
                return True
            end = piece[-2:]
    return False


def _rows(sheet: Any, formulas: Any, first: int) -> Iterator[tuple[int, list[str]]]:
    """Each row's number and its cells as text."""
    rows: Iterator[Any] = sheet.iter_rows(min_row=first, values_only=True)
    if formulas is not None:
        rows = map(_filled_up, rows, formulas.iter_rows(min_row=first, values_only=True))
    for number, row in enumerate(rows, first):
        yield number, [_text(cell) for cell in row]


def _filled_up(stored: Any, written: Any) -> list[Any]:
    """Each cell's stored value, else what is written there: a formula, if anything."""
    pairs = zip_longest(stored, written)
    return [getattr(formula, "text", formula) if value is None else value for value, formula in pairs]


def _is_filled(sheet: ReadOnlyWorksheet) -> bool:
    sheet.reset_dimensions()  # the file's own word on its size is often wrong
    return any(any(cell is not None for cell in row) for row in sheet.iter_rows(max_row=50, values_only=True))


def _check_size(source: Source, packed: int, members: list[zipfile.ZipInfo]) -> None:
    check_expansion(source.filename, packed, sum(member.file_size for member in members), source.limits)
    most = source.limits.in_memory_bytes
    if any(member.file_size > most for member in members if "sharedStrings" in member.filename):
        raise FileTooLarge(f"{source.filename} holds over {most:,} bytes of text; send it as CSV or Parquet")


def _batches(
    source: Source, found: Iterator[tuple[int, list[str]]], header: tuple[str, ...], others: list[str]
) -> Iterator[Batch]:
    lines: list[int] = []
    rows: list[dict[str, str]] = []
    problems = [Problem(0, "", name, FURTHER) for name in others]
    total = 0
    with _broken_is_said(source):
        for number, cells in found:
            if not any(cells):
                continue
            total += 1
            check_rows(total, source.limits)
            if any(cells[len(header) :]):
                problems.append(Problem(number, "", "", RAGGED))
                continue
            lines.append(number)
            rows.append(dict(zip(header, cells, strict=False)))
            if len(rows) == ROWS_AT_ONCE:
                yield text_batch(lines, rows, list(header), problems)
                lines, rows, problems = [], [], []
    yield text_batch(lines, rows, list(header), problems)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return str(cell)


def is_workbook(source: Source) -> bool:
    if not source.head.startswith(ZIP):
        return False
    try:
        with source.seekable() as stream, zipfile.ZipFile(stream) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except ZIP_ERRORS:
        return False
