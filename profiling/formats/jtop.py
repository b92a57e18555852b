"""jtop's CSV log, and the dumps of its `stats` that people write themselves: one row a sample.

jtop repeats its last row when asked faster than it measures; such rows are marked, since they are no news.
"""

import datetime
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from profiling.formats import csv_rows
from profiling.formats.batches import Batch, as_text
from profiling.formats.checks import to_numbers, why_no_number
from profiling.formats.format import Format, Options
from profiling.formats.log import ABSENT_C, Log
from profiling.formats.problems import FormatError, ProblemList
from profiling.formats.source import Source

JTOP_ONLY = {"uptime", "jetson_clocks", "nvp model"}
TEXT = {"time", "uptime", "jetson_clocks", "nvp model"}
NAMES = {
    "EMC": "load_emc_pct",
    "GPU": "load_gpu_pct",
    "GPU1": "load_gpu_pct",
    "power cur": "power_total_mw",
    "power avg": "power_total_avg_mw",
    "Power TOT": "power_total_mw",
    "log_time": "log_time_s",
}
TOTAL = "jtop's own total: on AGX Orin it counts VDDQ_VDD2_1V8AO twice"


def recognises(source: Source) -> bool:
    first = source.head.split(b"\n", 1)[0].decode(errors="replace")
    names = {name.strip().strip('"') for name in first.split(",")}
    return "time" in names and bool(names & JTOP_ONLY)


def read(source: Source, options: Options) -> Log:
    """A Log; its rows whose numbers cannot be read are problems, and dropped."""
    rows = csv_rows.read_rows(source)
    problems, notes = ProblemList(source.limits.problems), ProblemList(source.limits.problems)
    batches = list(rows.batches)
    for batch in batches:
        problems.extend(batch.problems)
    whole = _joined(rows.header, batches)
    if not len(whole):
        raise FormatError(f"{source.filename} holds no row of jtop's")
    moments, good = _moments(whole, problems)
    columns: dict[str, Any] = {}
    for name in rows.header:
        columns[column_name(name)], bad = _column(name, whole, problems)
        good &= ~bad
    if "power_total_mw" in columns:
        notes.add(0, "power_total_mw", "", TOTAL)
    return _log(whole, columns, moments, good, problems, notes)


def _joined(header: tuple[str, ...], batches: list[Batch]) -> Batch:
    columns = {
        name: pa.chunked_array([batch.columns[name] for batch in batches], pa.string()).combine_chunks()
        for name in header
    }
    return Batch(np.concatenate([np.zeros(0, dtype=np.int64), *(batch.lines for batch in batches)]), columns)


def column_name(name: str) -> str:
    """jtop's name in the agent's words; a name we do not know stays."""
    if name in NAMES:
        return NAMES[name]
    if found := re.fullmatch(r"CPU(\d+)", name):
        return f"load_cpu{int(found[1]) - 1}_pct"
    if found := re.fullmatch(r"GPU(\d+)", name):
        return f"load_gpu{int(found[1]) - 1}_pct"
    if found := re.fullmatch(r"Temp (.+)", name):
        return f"temp_{found[1].lower()}_c"
    if found := re.fullmatch(r"Power (.+)", name):
        return f"power_{found[1].lower()}_mw"
    return name


def _column(name: str, batch: Batch, problems: ProblemList) -> tuple[Any, np.ndarray]:
    """A column's values, and which of its cells are bad; a column that is mostly words stays text."""
    cells = batch.columns[name]
    texts = as_text(cells).to_pylist()
    nothing_bad = np.zeros(len(batch), dtype=bool)
    if name in TEXT:
        return [text or None for text in texts], nothing_bad
    numbers = to_numbers(cells)
    if numbers.bad.mean() > 0.5:
        return [text or None for text in texts], nothing_bad
    values = numbers.values
    if name.startswith("Temp "):
        values = np.where(values <= ABSENT_C, np.nan, values)
    bad_texts = [texts[place] for place in np.flatnonzero(numbers.bad)]
    problems.add_many(
        batch.lines[numbers.bad], name, bad_texts, lambda place: why_no_number(bad_texts[place])
    )
    return values, numbers.bad


def _moments(batch: Batch, problems: ProblemList) -> tuple[list[datetime.datetime | None], np.ndarray]:
    texts = batch.columns["time"].to_pylist()
    moments = [_moment(text) for text in texts]
    good = np.array([moment is not None for moment in moments], dtype=bool)
    for place in np.flatnonzero(~good):
        problems.add(batch.lines[place], "time", texts[place], "is no time like 2024-06-09 22:14:02.125")
    return moments, good


def _moment(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None


def _log(
    batch: Batch,
    columns: dict[str, Any],
    moments: list[datetime.datetime | None],
    good: np.ndarray,
    problems: ProblemList,
    notes: ProblemList,
) -> Log:
    places = np.flatnonzero(good)
    first = next((moment for moment, fine in zip(moments, good, strict=True) if fine), None)
    time_s = np.array([(moments[place] - first).total_seconds() for place in places])  # type: ignore[operator]
    kept = {name: _take(values, places) for name, values in columns.items() if name != "time"}
    lines = batch.lines[places]
    back = np.flatnonzero(np.diff(time_s, prepend=time_s[:1]) < 0)
    for place in back:
        problems.add(lines[place], "time", "", "goes back in time")
    repeated = _repeated({"time_s": time_s} | kept)
    for place in np.flatnonzero(repeated):
        notes.add(lines[place], "", "", f"repeats the sensor row of line {lines[place - 1]}")
    forward = np.delete(np.arange(len(lines)), back)
    return Log(
        "jtop",
        {name: _take(values, forward) for name, values in ({"time_s": time_s} | kept).items()},
        lines[forward],
        repeated[forward],
        problems.sorted(),
        len(problems),
        notes.sorted(),
        len(batch),
        first.isoformat() if first else None,
        {},
    )


def _repeated(columns: dict[str, Any]) -> np.ndarray:
    """Rows equal to the one above in all that jtop said, bool (n,); log_time is the writer's clock."""
    count = len(columns["time_s"])
    same = np.ones(count, dtype=bool)
    same[:1] = False
    for name, values in columns.items():
        if name == "log_time_s":
            continue
        if isinstance(values, np.ndarray):
            same[1:] &= (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        else:
            same[1:] &= np.array([a == b for a, b in pairwise(values)], dtype=bool)
    return same


def _take(values: Any, places: np.ndarray) -> Any:
    return values[places] if isinstance(values, np.ndarray) else [values[place] for place in places]


FORMAT = Format("jtop", "jtop log", "log", recognises, read)
