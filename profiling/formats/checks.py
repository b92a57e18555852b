"""Cells to numbers, clocks to legal steps, repeated modes found: whole columns at a time."""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from profiling.formats.batches import as_text

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

UNKNOWN_WORDS = ("", "n/a", "#n/a", "na", "null", "none", "unknown", "off", "nc", "-", "--", "—", "?")
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
NUMBERLIKE = re.compile(NUMBER, re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+", re.ASCII)  # 0,5 and 1.234,5
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+", re.ASCII)
THOUSANDS = re.compile(r"[+-]?\d{1,3}([,.'\u2019 \u00a0\u202f])\d{3}(\1\d{3})*([.,]\d+)?", re.ASCII)
GROUPED = r"^([+-]?\d{1,3})((?:\.\d{3})+)(,\d+)$"  # points before a comma can only part thousands
MONTH = "(Jan|Feb|M[aä]r|Apr|Ma[yi]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])"
DATE = re.compile(rf"\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}([ T].*)?|([\d. -]*\b)?{MONTH}[a-z]*\b.*", re.I)
NUMBER_WITH_UNIT = re.compile(r"([+-]?[\d.]+)\s*([A-Za-zµ%]+)")
# Far beyond what any file means, and near enough that a product or a quotient of two stays finite.
LEAST, MOST = 1e-15, 1e15
SNAP_SHARE = 1e-3
SNAP_KHZ = 1000.0


class Numbers(NamedTuple):
    """values float (n,), NaN where there is none; unknown, bad: bool (n,)."""

    values: FloatArray
    unknown: BoolArray
    bad: BoolArray


def to_numbers(cells: pa.Array, decimal: str = ".") -> Numbers:
    """Cells as float64. Words such as N/A are unknown; what is neither, not finite, or absurd is bad."""
    if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        return _typed_numbers(cells)
    text = as_text(cells)
    if decimal == ",":  # among decimal commas 1.234 may be a thousand, or not
        text = pc.replace_substring(pc.replace_substring(_ungrouped(text), ".", "'"), ",", ".")
    try:
        values = _numpy(text.cast(pa.float64()))
    except pa.ArrowInvalid:
        return _cell_by_cell(text)
    return Numbers(values, np.zeros(len(values), dtype=bool), _absurd(values))


def _ungrouped(text: pa.Array) -> pa.Array:
    """1.234,5 as 1234,5."""
    grouped = pc.match_substring_regex(text, GROUPED)
    return pc.if_else(grouped, pc.replace_substring(text, ".", ""), text)


def _typed_numbers(cells: pa.Array) -> Numbers:
    values = _numpy(cells.cast(pa.float64(), safe=False))
    unknown = np.asarray(cells.is_null())
    return Numbers(values, unknown, _absurd(values) & ~unknown)


def _absurd(values: FloatArray) -> BoolArray:
    size = np.abs(values)
    return ~((size <= MOST) & ((size >= LEAST) | (size == 0)))


def _cell_by_cell(text: pa.Array) -> Numbers:
    trimmed = pc.utf8_trim_whitespace(text)
    unknown = np.asarray(pc.is_in(pc.utf8_lower(trimmed), pa.array(UNKNOWN_WORDS)))
    readable = pc.match_substring_regex(trimmed, NUMBER)
    plain = pc.utf8_ltrim(trimmed, "+")  # Arrow's cast knows no plus sign
    values = _numpy(pc.if_else(readable, plain, pa.scalar(None, pa.string())).cast(pa.float64()))
    return Numbers(values, unknown, _absurd(values) & ~unknown)


def _numpy(array: pa.Array) -> FloatArray:
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def why_no_number(text: str) -> str:
    """What is wrong with a cell that should be a number."""
    text = text.strip()
    if text.lower() == "nan":
        return "is not a number (NaN)"
    if re.fullmatch(r"[+-]?inf(inity)?", text.lower()):
        return "is infinite"
    if NUMBERLIKE.fullmatch(text):
        size = abs(float(text))
        if not size or LEAST <= size <= MOST:
            return "has a decimal point amid decimal commas"
        return "is too large" if size > MOST else "is too small"
    if found := THOUSANDS.fullmatch(text):
        return _why_grouped(text, found[1], found[3])
    if DECIMAL_COMMA.fullmatch(text):
        return f"has a decimal comma; write {text.replace(',', '.')}"
    if DATE.fullmatch(text):
        return "is a date, not a number"
    if found := NUMBER_WITH_UNIT.fullmatch(text):
        return f"has its unit in the cell; write {found[1]} and name the unit in the header"
    if text.startswith("="):
        return "is a formula without its value; open the workbook in a spreadsheet and save it"
    if text.startswith(("{", "[")):
        return "is nested, not a number"
    return "is not a number"


def _why_grouped(text: str, separator: str, decimals: str | None) -> str:
    whole = text.removesuffix(decimals or "").replace(separator, "")
    if separator in ",." and text.count(separator) == 1 and not decimals:
        sign = "comma" if separator == "," else "point"
        return (
            f"has a {sign} that may be decimal or part thousands; write {whole} or {text.replace(',', '.')}"
        )
    return f"has its thousands parted; write {whole}{(decimals or '').replace(',', '.')}"


class Snapped(NamedTuple):
    """values float (n,): the legal step, or the value itself where none is near. legal: bool (n,)."""

    values: FloatArray
    legal: BoolArray
    moved: BoolArray


def snap(values: FloatArray, steps: tuple[int, ...], tolerant: bool) -> Snapped:
    """Each value to its nearest step, if within 0.1 % or 1 MHz of it (clocks), or equal to it (cores).

    Drivers print 305000 for 306000 and 1065599999 for 1065600000. values: float (n,), NaN passes as legal.
    """
    codes, distinct = pd.factorize(values)  # NaN gets code -1
    nearest = nearest_step(np.asarray(distinct, dtype=float), steps)
    off = np.abs(distinct - nearest)
    reach = np.maximum(SNAP_SHARE * nearest, SNAP_KHZ) if tolerant else 0.0
    legal = np.append(off <= reach, True)
    moved = np.append((off >= 1.0) & (off <= reach), False)
    result = np.append(np.where(off <= reach, nearest, distinct), np.nan)
    return Snapped(result[codes], legal[codes], moved[codes])


def nearest_step(values: FloatArray, steps: tuple[int, ...]) -> FloatArray:
    table = np.unique(np.asarray(steps, dtype=float))
    right = np.clip(np.searchsorted(table, values), 1, max(1, len(table) - 1))
    left_step, right_step = table[right - 1], table[np.minimum(right, len(table) - 1)]
    return np.where(np.abs(values - left_step) <= np.abs(values - right_step), left_step, right_step)
