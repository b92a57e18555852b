"""Modes measured more than once: exact copies are worth a note, contradictions a decision."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from profiling.formats.batches import as_text
from profiling.formats.checks import BoolArray, FloatArray
from profiling.formats.columns import KNOBS, OUTCOMES
from profiling.formats.problems import ProblemList

Repeated = Literal["refuse", "keep"]


class Repeats(NamedTuple):
    """first int (n,): place of the first row of the same mode. repeated, differing: bool (n,)."""

    first: NDArray[np.int64]
    repeated: BoolArray
    differing: BoolArray


def find_repeats(keys: list[NDArray], outcomes: list[FloatArray], comparable: BoolArray) -> Repeats:
    """Rows of the same keys, and those among them whose outcomes are not the first one's.

    keys, outcomes: each (n,). comparable: bool (n,), False where a key is unknown in that row.
    """
    first = _first_of_equals(_group_codes(keys, len(comparable)))
    repeated = (first != np.arange(len(first))) & comparable
    differing = np.zeros(len(first), dtype=bool)
    for values in outcomes:
        differing |= repeated & (values != values[first]) & ~(np.isnan(values) & np.isnan(values[first]))
    return Repeats(first, repeated, differing)


def _first_of_equals(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of the first equal code (n,). By sorting: a hash table of a million takes 100 MB.

    Where each came with its place would take six times as long, so only those that come again are asked.
    """
    first = np.arange(len(codes))
    ordered = np.sort(codes)
    doubled = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(doubled):
        places = np.flatnonzero(np.isin(codes, doubled))
        _, firsts, groups = np.unique(codes[places], return_index=True, return_inverse=True)
        first[places] = places[firsts][groups]
    return first


def _group_codes(keys: list[NDArray], count: int) -> NDArray[np.int64]:
    codes, groups = np.zeros(count, dtype=np.int64), 1
    for key in keys:
        found, distinct = _coded(np.nan_to_num(key, nan=-1).astype(np.int64))
        if groups * distinct > 1 << 60:
            codes, seen = pd.factorize(codes)
            groups = len(seen)
        codes = codes * distinct + found
        groups *= max(1, distinct)
    return codes


def _coded(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Codes (n,), and how many there may be: counted numbers, such as of repeats, are codes already."""
    low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
    if high - low < len(key):
        return key - low, high - low + 1
    codes, distinct = pd.factorize(key)
    return codes, len(distinct)


def table_repeats(columns: dict[str, FloatArray], apart: list[pa.ChunkedArray]) -> Repeats:
    """Rows of equal knobs, minibatch and `apart` columns; one with an unknown knob is let be."""
    knobs = [columns[name] for name in (*KNOBS, "minibatch") if name in columns]
    comparable = np.ones(len(next(iter(columns.values()))), dtype=bool) & bool(knobs)
    for knob in knobs:
        comparable &= ~np.isnan(knob)
    outcomes = [columns[name] for name in OUTCOMES if name in columns]
    return find_repeats([*knobs, *map(_codes, apart)], outcomes, comparable)


def _codes(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Equal cells, equal codes (n,)."""
    try:
        return column.cast(pa.int64()).fill_null(-1).to_numpy()
    except pa.ArrowInvalid:
        encoded = pc.dictionary_encode(as_text(column.combine_chunks()))
        return np.asarray(encoded.indices, dtype=np.int64)


def report_copies(
    notes: ProblemList, lines: NDArray[np.int64], found: Repeats, name_of: Callable[[int], str]
) -> None:
    places = np.flatnonzero(found.repeated & ~found.differing)

    def reason(place: int) -> str:
        return f"is the same mode with the same values as {name_of(int(lines[found.first[places[place]]]))}"

    notes.add_many(lines[places], "", [""] * len(places), reason)


def report_contradictions(
    ledger: ProblemList,
    lines: NDArray[np.int64],
    columns: dict[str, FloatArray],
    found: Repeats,
    name_of: Callable[[int], str],
) -> None:
    places = np.flatnonzero(found.differing)

    def reason(place: int) -> str:
        here = places[place]
        first = found.first[here]
        pairs = (
            f"{name} {columns[name][here]:.10g} instead of {columns[name][first]:.10g}"
            for name in OUTCOMES
            if name in columns and columns[name][here] != columns[name][first]
        )
        return f"is the same mode as {name_of(int(lines[first]))}, with {', '.join(pairs)}"

    ledger.add_many(lines[places], "", [""] * len(places), reason)
