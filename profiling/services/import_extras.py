"""What a file's further columns say of its runs: some are fields of a run, the others are kept as is."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from profiling.bulk import as_stored
from profiling.flags import FLAGS
from profiling.formats import Problem
from profiling.formats.batches import as_text
from profiling.formats.json_rows import cell_text
from profiling.formats.problems import shown

COMMA = ", "
OWN_OBJECTS = ("extra", "unknowns")  # columns of our own exports, each cell a JSON object
OWN_PREFIX = "extra."  # and as a reader of JSON lays it flat
ESCAPED = r'["\\\x00-\x1f]'


def adopted(extras: pa.Table) -> tuple[dict[str, pa.Array], pa.Table]:
    """Columns of a run that columns are named after, and the rest, in which stays what reads as none."""
    found: dict[str, pa.Array] = {}
    for name, (read, kind, otherwise) in READERS.items():
        if name not in extras.column_names:
            continue
        text = as_text(extras.column(name).combine_chunks()).dictionary_encode()
        values = pa.array([read(each) for each in text.dictionary.to_pylist()], kind).take(text.indices)
        left = pc.if_else(values.is_valid(), "", text.cast(pa.string()))
        found[name] = values if otherwise is None else values.fill_null(otherwise)
        extras = extras.set_column(extras.column_names.index(name), name, left)
    return found, extras


def misread(runs: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Cells of fields that `adopted` would leave in the rest, where it was our own words that were spoken."""
    return [
        Problem(place, name, shown(text), MEANT[name])
        for place, run in enumerate(runs, 1)
        for name, (read, *_) in READERS.items()
        if (text := cell_text(run.get(name))) and read(text) is None
    ]


def extra_json(extras: pa.Table, count: int) -> pa.Array:
    """Each row as a JSON object without its empty cells (count,)."""
    if not extras.num_columns:
        return pa.repeat("{}", count)
    members = [
        _members_of(name, extras.column(name).combine_chunks(), extras.column_names)
        for name in extras.column_names
    ]
    inside = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*members, ""), len(COMMA))
    return pc.binary_join_element_wise("{", inside, "}", "")


def _members_of(name: str, cells: pa.Array, names: list[str]) -> pa.Array:
    """What a lab's own export held in extra comes back to where it was, not one level deeper each time."""
    bare = name.removeprefix(OWN_PREFIX)
    if name in OWN_OBJECTS:
        return _unfolded(name, cells, names)
    return _members(bare if bare not in names else name, cells)


def _unfolded(name: str, cells: pa.Array, names: list[str]) -> pa.Array:
    text = as_text(cells).dictionary_encode()
    made = [_unfold(name, each, names) for each in text.dictionary.to_pylist()]
    return pa.array([f"{COMMA}{each}" if each else "" for each in made], pa.string()).take(text.indices)


def _unfold(name: str, text: str, names: list[str]) -> str:
    try:
        held = json.loads(text) if text.startswith("{") else None
    except ValueError:
        held = None
    if not isinstance(held, dict):
        held = {name: text} if text else {}
    elif name != "extra":
        held = {name: held} if held else {}
    else:
        held = {f"{OWN_PREFIX}{each}" if each in names else each: value for each, value in held.items()}
    return json.dumps(held, ensure_ascii=False).replace("\\u0000", "\ufffd")[1:-1]


def _members(name: str, cells: pa.Array) -> pa.Array:
    """`, "name": value` of each cell (n,), nothing where it is empty."""
    key = f"{COMMA}{_as_json(name)}: "
    if pa.types.is_floating(cells.type):
        finite = pc.is_finite(cells)
        cells = pc.if_else(finite, cells.cast(pa.string()), _quoted(as_text(cells)))
    elif pa.types.is_integer(cells.type) or pa.types.is_boolean(cells.type):
        cells = cells.cast(pa.string())
    else:
        cells = _quoted(as_text(cells))
    return pc.fill_null(pc.binary_join_element_wise(pa.scalar(key), cells, ""), "")


def _quoted(text: pa.Array) -> pa.Array:
    """Text as JSON (n,), null where it is empty."""
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    if not pc.any(pc.match_substring_regex(text, ESCAPED)).as_py():
        return pc.binary_join_element_wise('"', text, '"', "")
    distinct = text.dictionary_encode()
    texts = [_as_json(each) for each in distinct.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(distinct.indices)


def _as_json(text: str) -> str:
    """NUL is legal JSON, but PostgreSQL keeps none."""
    return json.dumps(text.replace("\0", "\ufffd"), ensure_ascii=False)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _count(text: str) -> int | None:
    value = _number(text)
    return int(value) if value is not None and value.is_integer() and value < 2**31 else None


def _flags(text: str) -> str | None:
    """ "throttled, hot", or as JSON writes it; None when it holds anything else."""
    words = re.findall(r"\w+", text)
    return json.dumps(words) if all(word in FLAGS for word in words) else None


def _moment(text: str) -> Any:
    """A date and time with its zone; without one it could be any of 24 hours."""
    try:
        moment = datetime.fromisoformat(text)
        return as_stored(moment) if moment.tzinfo else None
    except (ValueError, OverflowError):  # the calendar's first and last hours are outside of it in UTC
        return None


def _truth(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())


READERS: dict[str, tuple[Callable[[str], Any], pa.DataType, str | None]] = {
    **dict.fromkeys(("time_sd_ms", "fetch_ms", "compute_ms"), (_number, pa.float64(), None)),
    **dict.fromkeys(("minibatches", "power_samples"), (_count, pa.int64(), None)),
    "flags": (_flags, pa.string(), "[]"),
    "measured_at": (_moment, pa.string(), None),
    "emulated": (_truth, pa.bool_(), None),
}
MEANT = {
    **dict.fromkeys(("time_sd_ms", "fetch_ms", "compute_ms"), "is no number from 0 on"),
    **dict.fromkeys(("minibatches", "power_samples"), "is no whole number from 0 on"),
    "flags": f"is not of {', '.join(FLAGS)}",
    "measured_at": "is no date and time with its zone, such as 2026-03-09T10:00:00Z",
    "emulated": "is neither true nor false",
}
