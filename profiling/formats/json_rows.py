"""Rows of JSON and JSON lines, nested objects laid flat: {"knobs": {"cores": 4}} is column knobs.cores."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from profiling.formats.batches import ROWS_AT_ONCE, Batch, Rows, check_rows, checked_header, text_batch
from profiling.formats.problems import FileTooLarge, FormatError, Limits, Problem, shown
from profiling.formats.source import Source
from profiling.json_objects import no_doubles

BAD_JSON = (ValueError, RecursionError)  # ValueError: syntax, encoding, or a number of thousands of digits
SAMPLED_RECORDS = 1000
DEEPEST = 4
LONGEST_NUMBER = 300
LIST_KEYS = ("runs", "rows", "data", "results", "measurements", "records")

Record = tuple[int, Any]  # line or place, and what was found there


def read_rows(source: Source) -> Rows:
    """A JSON array of objects, an object holding one, or an object of equally long lists."""
    records = _records(source)
    return Rows(_header(records[:SAMPLED_RECORDS], source.limits), _batches(records, source.limits))


def read_line_rows(source: Source) -> Rows:
    with source.open() as stream:
        sample = list(islice(_json_lines(stream, source.limits), SAMPLED_RECORDS))
    return Rows(_header(sample, source.limits), _line_batches(source))


def _line_batches(source: Source) -> Iterator[Batch]:
    with source.open() as stream:
        yield from _batches(_json_lines(stream, source.limits), source.limits)


def _records(source: Source) -> list[Record]:
    try:
        found = json.loads(source.whole(), object_pairs_hook=no_doubles, parse_int=_whole)
    except FormatError:
        raise
    except BAD_JSON as error:
        raise FormatError(f"{source.filename} is not valid JSON: {error}") from error
    return list(enumerate(_as_list(found), 1))


def _as_list(found: Any) -> list[Any]:
    if isinstance(found, dict):
        if rows := _from_pandas(found):
            return rows
        for key in LIST_KEYS:
            if isinstance(found.get(key), list):
                return found[key]
        if found and all(isinstance(cells, list) for cells in found.values()):
            return _from_columns(found)
        if not any(isinstance(cells, list) for cells in found.values()):
            return [found]
    if isinstance(found, list) and found:
        return found
    raise FormatError("no rows found: send a JSON array of objects, one object a measured mode")


def _from_pandas(found: dict[str, Any]) -> list[Any] | None:
    """{"time_ms": {"0": 5}} as to_json() writes it, orient="index" the other way round, or "split"."""
    names, data = found.get("columns"), found.get("data")
    if isinstance(names, list) and isinstance(data, list) and set(found) <= {"columns", "index", "data"}:
        if len(set(map(str, names))) < len(names):
            raise FormatError(f"a column is named twice in {names}")
        return [_named(names, row) for row in data]
    inner = [list(cells) if isinstance(cells, dict) else [] for cells in found.values()]
    if not inner or not inner[0] or any(keys != inner[0] for keys in inner):
        return None
    if _are_places(found):
        return list(found.values())
    if _are_places(inner[0]):
        return [{name: cells[place] for name, cells in found.items()} for place in inner[0]]
    return None


def _named(names: list[Any], row: Any) -> Any:
    fits = isinstance(row, list) and len(row) == len(names)
    return dict(zip(map(str, names), row, strict=True)) if fits else row


def _are_places(keys: Iterable[str]) -> bool:
    return all(key.isdecimal() for key in keys)


def _from_columns(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        raise FormatError(f"the columns differ in length: {lengths}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _whole(digits: str) -> int | str:
    """Python reads no number of thousands of digits; as text it is a bad cell, and not a bad file."""
    return int(digits) if len(digits) < LONGEST_NUMBER else digits


def _json_lines(stream: BinaryIO, limits: Limits) -> Iterator[Record]:
    for number, line in enumerate(_lines(stream, limits), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line, object_pairs_hook=no_doubles, parse_int=_whole)
        except BAD_JSON as error:
            yield (
                number,
                Problem(number, "", shown(line.decode(errors="replace")), f"is not valid JSON: {error}"),
            )


def _lines(stream: BinaryIO, limits: Limits) -> Iterator[bytes]:
    rest = b""
    while piece := stream.read(1 << 20):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
        if len(rest) > limits.line_bytes:
            raise FileTooLarge(f"a line is longer than {limits.line_bytes:,} bytes")
    yield rest


def _header(records: list[Record], limits: Limits) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for _, record in records:
        if isinstance(record, dict):
            names.update(dict.fromkeys(_flat(record)))
    if not names:
        raise FormatError("no rows found: send a JSON array of objects, one object a measured mode")
    return checked_header(list(names), limits)


def _batches(records: Iterable[Record], limits: Limits) -> Iterator[Batch]:
    total, known = 0, dict[str, None]()
    records = iter(records)
    while piece := list(islice(records, ROWS_AT_ONCE)):
        total += len(piece)
        check_rows(total, limits)
        lines, rows, problems = _rows(piece)
        for row in rows:
            known.update(dict.fromkeys(row))
        if len(known) > limits.columns:
            raise FileTooLarge(f"the records have more than {limits.columns:,} different names")
        yield text_batch(lines, rows, list(known), problems)


def _rows(records: list[Record]) -> tuple[list[int], list[dict[str, str]], list[Problem]]:
    lines, rows, problems = [], [], []
    for line, record in records:
        if isinstance(record, dict):
            lines.append(line)
            rows.append(_flat(record))
        elif isinstance(record, Problem):
            problems.append(record)
        else:
            problems.append(Problem(line, "", shown(record), "is not an object with named values"))
    return lines, rows, problems


def _flat(record: dict[str, Any], prefix: str = "", depth: int = 1) -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in record.items():
        if isinstance(value, dict) and depth < DEEPEST:
            flat |= _flat(value, f"{prefix}{_storable(name)}.", depth + 1)
        else:
            flat[prefix + _storable(name)] = cell_text(value)
    return flat


def cell_text(value: Any) -> str:
    if value is None:
        return ""
    return _storable(value) if isinstance(value, str) else json.dumps(value)


def _storable(text: str) -> str:
    """JSON may spell half a surrogate pair, which no UTF-8 text can hold."""
    return text.encode(errors="replace").decode()
