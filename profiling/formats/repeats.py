"""Modes measured more than once: exact copies are worth a note, contradictions a decision."""

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
    count = len(comparable)
    places = np.arange(count)
    codes = _group_codes(keys, count)
    first_of_code = np.zeros(codes.max(initial=-1) + 1, dtype=np.int64)
    first_of_code[codes[::-1]] = places[::-1]
    first = first_of_code[codes]
    repeated = (first != places) & comparable
    differing = np.zeros(count, dtype=bool)
    for values in outcomes:
        differing |= repeated & (values != values[first]) & ~(np.isnan(values) & np.isnan(values[first]))
    return Repeats(first, repeated, differing)


def _group_codes(keys: list[NDArray], count: int) -> NDArray[np.int64]:
    codes, groups = np.zeros(count, dtype=np.int64), 1
    for key in keys:
        found, distinct = pd.factorize(_whole(key))
        if groups * len(distinct) > 1 << 60:
            codes, seen = pd.factorize(codes)
            groups = len(seen)
        codes = codes * len(distinct) + found
        groups *= max(1, len(distinct))
    return codes if groups <= 4 * count else np.asarray(pd.factorize(codes)[0], dtype=np.int64)


def _whole(key: NDArray) -> NDArray[np.int64]:
    return np.nan_to_num(key, nan=-1).astype(np.int64)


def table_repeats(columns: dict[str, FloatArray], apart: list[pa.ChunkedArray]) -> Repeats:
    """Rows of equal knobs, minibatch and `apart` columns; one with an unknown knob is let be."""
    knobs = [columns[name] for name in (*KNOBS, "minibatch") if name in columns]
    comparable = np.ones(len(next(iter(columns.values()))), dtype=bool) & bool(knobs)
    for knob in knobs:
        comparable &= ~np.isnan(knob)
    outcomes = [columns[name] for name in OUTCOMES if name in columns]
    return find_repeats([*knobs, *map(_codes, apart)], outcomes, comparable)


def _codes(column: pa.ChunkedArray) -> NDArray[np.int64]:
    encoded = pc.dictionary_encode(as_text(column.combine_chunks()))
    return np.asarray(encoded.indices, dtype=np.int64)


def report_copies(notes: ProblemList, lines: NDArray[np.int64], found: Repeats) -> None:
    places = np.flatnonzero(found.repeated & ~found.differing)

    def reason(place: int) -> str:
        return f"is the same mode with the same values as line {lines[found.first[places[place]]]}"

    notes.add_many(lines[places], "", [""] * len(places), reason)


def report_contradictions(
    ledger: ProblemList, lines: NDArray[np.int64], columns: dict[str, FloatArray], found: Repeats
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
        return f"is the same mode as line {lines[first]}, with {', '.join(pairs)}"

    ledger.add_many(lines[places], "", [""] * len(places), reason)
