"""jtop's CSV log, and the dumps of its `stats` that people write themselves: one row a sample.

jtop repeats its last row when asked faster than it measures; such rows are marked, since they are no news.
"""

import datetime
import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from profiling.formats import csv_rows
from profiling.formats.batches import Batch, as_text, check_cells
from profiling.formats.channels import Channel, Channels
from profiling.formats.checks import to_numbers, why_no_number
from profiling.formats.format import Format, Options
from profiling.formats.log import ABSENT_C, Log, same_as_above
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
NO_TIME = "is no time like 2024-06-09 22:14:02.125"
EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001  (the log's own clock names no zone)


class Rows(NamedTuple):
    """Each row's line, its own clock in µs, and whether all of it can be read; (n,) each."""

    lines: NDArray[np.int64]
    at_us: NDArray[np.int64]
    good: NDArray[np.bool_]


def recognises(source: Source) -> bool:
    first = source.head.split(b"\n", 1)[0].decode(errors="replace")
    names = {name.strip().strip('"') for name in first.split(",")}
    return "time" in names and bool(names & JTOP_ONLY)


def read(source: Source, options: Options) -> Log:
    """A Log; its rows whose numbers cannot be read are problems, and dropped."""
    table = csv_rows.read_rows(source)
    problems, notes = ProblemList(source.limits.problems), ProblemList(source.limits.problems)
    texts: set[str] = set()
    told: list[Rows] = []
    columns = Channels()
    for batch in table.batches:
        problems.extend(batch.problems)
        if len(batch):
            texts = texts or TEXT | _mostly_words(batch)
            told.append(_read(batch, texts, columns, problems))
            check_cells(int(batch.lines[-1]), len(table.header), source.limits)
    if not told:
        raise FormatError(f"{source.filename} holds no row of jtop's")
    if "power_total_mw" in columns:
        notes.add(0, "power_total_mw", "", TOTAL)
    rows = Rows(*map(np.concatenate, zip(*told, strict=True)))
    told.clear()
    return _log(rows, columns, problems, notes)


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


def _mostly_words(batch: Batch) -> set[str]:
    """Columns that stay text, by the first rows of the file."""
    return {name for name, cells in batch.columns.items() if to_numbers(cells).bad.mean() > 0.5}


def _read(batch: Batch, texts: set[str], columns: Channels, problems: ProblemList) -> Rows:
    """The batch's channels go to `columns`, by our names."""
    at_us, good = _moments(batch, problems)
    found: dict[str, Channel] = {}
    for name, cells in batch.columns.items():
        if name == "time":
            continue
        if name in texts:
            text = as_text(cells)
            found[column_name(name)] = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
        else:
            found[column_name(name)], bad = _numbers(name, batch, problems)
            good &= ~bad
    columns.add(len(batch), found)
    return Rows(batch.lines, at_us, good)


def _numbers(name: str, batch: Batch, problems: ProblemList) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A column's values (n,), and which of its cells are bad (n,)."""
    cells = batch.columns[name]
    values, _, bad = to_numbers(cells)
    if bad.any():
        texts = as_text(cells).filter(pa.array(bad)).to_pylist()
        problems.add_many(batch.lines[bad], name, texts, lambda place: why_no_number(texts[place]))
    return np.where(values <= ABSENT_C, np.nan, values) if name.startswith("Temp ") else values, bad


def _moments(batch: Batch, problems: ProblemList) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Microseconds of the rows' own clock (n,), and which rows tell them (n,)."""
    texts = as_text(batch.columns["time"])
    try:
        return np.asarray(texts.cast(pa.timestamp("us")).cast(pa.int64())), np.ones(len(batch), dtype=bool)
    except pa.ArrowInvalid:
        moments = [_moment(text) for text in texts.to_pylist()]
    good = np.array([moment is not None for moment in moments], dtype=bool)
    for place in np.flatnonzero(~good):
        problems.add(
            batch.lines[place], "time", texts[place].as_py(), "is no time like 2024-06-09 22:14:02.125"
        )
    return np.array(moments, dtype="datetime64[us]").astype(np.int64), good


def _moment(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None


def _log(rows: Rows, columns: Channels, problems: ProblemList, notes: ProblemList) -> Log:
    kept, lines, at_us = columns.where(rows.good), rows.lines[rows.good], rows.at_us[rows.good]
    back = np.diff(at_us, prepend=at_us[:1]) < 0
    problems.add_many(lines[back], "time", [""] * int(back.sum()), lambda _: "goes back in time")
    first = int(at_us[0]) if len(at_us) else 0
    kept.put("time_s", (at_us - first) / 1e6)
    repeated = np.ones(len(lines), dtype=bool)
    for name in kept.keys() - {"log_time_s"}:
        repeated &= same_as_above(kept[name])
    above = lines[np.flatnonzero(repeated) - 1]
    why = "repeats the sensor row of line {}"
    notes.add_many(lines[repeated], "", [""] * len(above), lambda place: why.format(above[place]))
    return Log(
        "jtop",
        kept.where(~back),
        lines[~back],
        repeated[~back],
        problems.sorted(),
        len(problems),
        notes.sorted(),
        len(rows.lines),
        (EPOCH + datetime.timedelta(microseconds=first)).isoformat() if len(at_us) else None,
    )


FORMAT = Format("jtop", "jtop log", "log", recognises, read)
