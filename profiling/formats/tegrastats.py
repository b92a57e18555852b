"""NVIDIA's tegrastats, every generation from Nano to Thor: one line a sample.

Values after a slash (mean since start, in JetPack 7 also the peak) are kept beside the present one.
"""

import datetime
import re
from collections.abc import Iterator

import numpy as np

from profiling.formats.batches import check_cells
from profiling.formats.channels import Channels
from profiling.formats.csv_rows import text_lines
from profiling.formats.format import Format, Options
from profiling.formats.log import Log, celsius, columns_of
from profiling.formats.problems import FormatError, ProblemList
from profiling.formats.source import Source

Row = dict[str, float | str | None]
ROWS_AT_ONCE = 20_000  # as dicts they take ten times the room of columns

STAMP = re.compile(r"(\d\d)-(\d\d)-(\d{4}) (\d\d:\d\d:\d\d)\s+")
PIECE = re.compile(
    r"""(?P<memory>(?:RAM|SWAP|IRAM)\ \d+/\d+[kM]B(?:\ ?\((?:lfb|cached)\ [^)]*\))?)
    |(?P<cpu>CPU\ \[[^\]]*\])
    |(?P<mts>MTS\ fg\ \d+%\ bg\ \d+%)
    |(?P<load>\w+\ (?:\d+%(?:@(?:\[[\d,]*\]|\d+))?|@\[[\d,]*\]|@\d+))(?=\s|$)
    |(?P<temperature>[\w.-]+@-?\d+(?:\.\d+)?C(?:/-?\d+(?:\.\d+)?C)*)(?=\s|$)
    |(?P<rail>[\w.-]+\ -?\d+(?:mW)?(?:/-?\d+(?:mW)?){1,2})(?=\s|$)
    |(?P<engine>(?:NVENC|NVDEC|NVJPG|NVDLA|DLA|PVA|MSENC|VIC|APE|SE|OFA|ISP)\w*\ (?:\d+|off|N/A))(?=\s|$)
    |(?P<other>\S+)""",
    re.VERBOSE,
)
TELLING = {"memory", "cpu", "load", "temperature", "rail"}
OF_ONE_LINE = re.compile(
    r"GR3D_FREQ |EMC_FREQ |\bRAM \d+/\d+MB .*CPU \[|\b\w+ \d+(mW)?/\d+(mW)?( |$).*@-?[\d.]+C"
)
LOAD_NAMES = {"EMC_FREQ": ("emc", "mem_khz"), "GR3D_FREQ": ("gpu", "gpu_khz")}
DATE_LINE = re.compile(r"\w{3} \w{3} +\d+ .*\d{4}|\d{4}-\d\d-\d\d.*")
ABSURD = re.compile(r"\d{16}")  # no quantity; thousands of digits no number can hold
NO_TIME = "the lines carry no time; say the interval that tegrastats was started with"

NOT_PRINTED = "tegrastats did not print it; some do so only for root"


def recognises(source: Source) -> bool:
    lines = source.head[:20_000].decode(errors="replace").splitlines()[:20]
    return any(OF_ONE_LINE.search(line) for line in lines)


def read(source: Source, options: Options) -> Log:
    """A Log; FormatError when no line is tegrastats'."""
    problems, notes = ProblemList(source.limits.problems), ProblemList(source.limits.problems)
    rows: list[Row] = []
    columns = Channels()
    lines: list[int] = []
    stamps: list[datetime.datetime | None] = []
    count = 0
    for count, line, text in _lines(source):
        stamp, row = parse_line(text)
        if row is not None:
            rows.append(row)
            lines.append(line)
            stamps.append(stamp)
            if len(rows) == ROWS_AT_ONCE:
                columns.add(len(rows), columns_of(rows))
                check_cells(len(lines), len(columns), source.limits)
                rows = []
        elif DATE_LINE.fullmatch(text) and not lines:
            notes.add(line, "", text, "is a date written before the log; its zone may differ from the log's")
        else:
            problems.add(line, "", text, "is no tegrastats line")
        if options.progress and count % 10_000 == 0:
            options.progress(count)
    if not lines:
        raise FormatError(f"{source.filename} holds no tegrastats line")
    columns.add(len(rows), columns_of(rows))
    return _log(columns, lines, stamps, count, problems, notes, options.interval_s)


def _lines(source: Source) -> Iterator[tuple[int, int, str]]:
    """How many so far, the line's number, and its text; blank lines and # comments are passed over."""
    count = 0
    for line, text in text_lines(source):
        if (text := text.strip()) and not text.startswith("#"):
            count += 1
            yield count, line, text


def parse_line(text: str) -> tuple[datetime.datetime | None, Row | None]:
    """When the line was written, if it says, and what it says; None when it is not of tegrastats."""
    stamp = None
    if ABSURD.search(text):
        return None, None
    if found := STAMP.match(text):
        stamp = _stamp(*found.groups())
        text = text[found.end() :]
    row: Row = {}
    others: list[str] = []
    told = False
    for piece in PIECE.finditer(text):
        kind, content = piece.lastgroup or "other", piece[0]
        told |= kind in TELLING
        if kind == "other":
            others.append(content)
        else:
            row.update(READERS[kind](content))
    if others:
        row["other"] = " ".join(others)
    return stamp, row if told else None


def _stamp(month: str, day: str, year: str, clock: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(f"{year}-{month}-{day}T{clock}")
    except ValueError:
        return None


def _memory(piece: str) -> Row:
    name, used, total, unit, rest = re.match(r"(\w+) (\d+)/(\d+)([kM]B) ?(.*)", piece).groups()  # type: ignore[union-attr]
    scale = 1.0 if unit == "MB" else 1 / 1024
    row: Row = {f"{name.lower()}_used_mb": int(used) * scale, f"{name.lower()}_total_mb": int(total) * scale}
    if rest:
        word, _, value = rest.strip("()").partition(" ")
        row[f"{name.lower()}_{word}"] = value
    return row


def _cpu(piece: str) -> Row:
    """CPU [12%@1190,off,…]: an offline core has neither load nor clock."""
    row: Row = {}
    online = 0
    for core, cell in enumerate(piece[5:-1].split(",")):
        found = re.fullmatch(r"\s*(\d+)%(?:@(\d+))?\s*", cell)
        online += bool(found)
        row[f"load_cpu{core}_pct"] = float(found[1]) if found else None
        row[f"cpu{core}_khz"] = int(found[2]) * 1000 if found and found[2] else None
    return row | {"cores_online": online}


def _load(piece: str) -> Row:
    """EMC_FREQ 3%@3199, GR3D_FREQ 12%@[1300,1300], VIC_FREQ 0%@115: per cent and MHz."""
    name, value = piece.split(" ", 1)
    load, _, clocks = value.partition("@")
    plain = name.removesuffix("_FREQ").lower()
    unit, clock = LOAD_NAMES.get(name, (plain, f"{plain}_khz"))
    row: Row = {f"load_{unit}_pct": float(load[:-1]) if load else None}
    for place, mhz in enumerate(clocks.strip("[]").split(",") if clocks else []):
        row[clock if place == 0 else f"{unit}{place}_khz"] = int(mhz) * 1000 if mhz else None
    return row


def _temperature(piece: str) -> Row:
    """cpu@47.6C, in JetPack 7 cpu@47.6C/50.1C."""
    zone, _, values = piece.partition("@")
    now, *later = (celsius(float(value.rstrip("C"))) for value in values.split("/"))
    row: Row = {f"temp_{zone.lower()}_c": now}
    return row | {f"temp_{zone.lower()}_max_c": value for value in later[:1]}


def _rail(piece: str) -> Row:
    """VDD_IN 4556mW/4400mW: now, mean and, in JetPack 7, peak; a channel NC is not connected."""
    label, values = piece.split(" ", 1)
    if label == "NC":
        return {}
    names = (f"power_{label.lower()}_{what}mw" for what in ("", "avg_", "peak_"))
    return {
        name: float(value.removesuffix("mW")) for name, value in zip(names, values.split("/"), strict=False)
    }


def _engine(piece: str) -> Row:
    name, value = piece.split(" ")
    plain = name.removesuffix("_FREQ").lower()
    return {f"{plain}_khz": int(value) * 1000 if value.isdigit() else None}


def _mts(piece: str) -> Row:
    _, _, front, _, back = piece.split(" ")
    return {"mts_fg_pct": float(front[:-1]), "mts_bg_pct": float(back[:-1])}


READERS = {
    "memory": _memory,
    "cpu": _cpu,
    "load": _load,
    "temperature": _temperature,
    "rail": _rail,
    "engine": _engine,
    "mts": _mts,
}


def _log(
    columns: Channels,
    lines: list[int],
    stamps: list[datetime.datetime | None],
    count: int,
    problems: ProblemList,
    notes: ProblemList,
    interval_s: float | None,
) -> Log:
    keep = np.ones(len(lines), dtype=bool)
    unknown: dict[str, str] = {}
    first = stamps[0]
    if first is not None:
        time_s = np.array([(stamp - first).total_seconds() if stamp else np.nan for stamp in stamps])
        keep = _forward(time_s, lines, problems)
        columns.put("time_s", time_s)
    elif interval_s:
        columns.put("time_s", np.arange(len(lines)) * interval_s)
        notes.add(0, "", "", f"the lines carry no time; they are taken to be {interval_s:g} s apart, as said")
    else:
        unknown["time_s"] = NO_TIME
    for name in ("gpu_khz", "mem_khz"):
        if name not in columns or np.isnan(columns[name]).all():
            unknown[name] = NOT_PRINTED
    return Log(
        "tegrastats",
        columns.where(keep),
        np.asarray(lines, dtype=np.int64)[keep],
        np.zeros(int(keep.sum()), dtype=bool),
        problems.sorted(),
        len(problems),
        notes.sorted(),
        count,
        first.isoformat() if first else None,
        unknown,
    )


def _forward(time_s: np.ndarray, lines: list[int], problems: ProblemList) -> np.ndarray:
    """Rows whose clock did not go back, bool (n,)."""
    reached = np.maximum.accumulate(np.where(np.isnan(time_s), -np.inf, time_s))
    keep = time_s >= reached
    for place in np.flatnonzero(~keep):
        told = "has no time" if np.isnan(time_s[place]) else "goes back in time"
        problems.add(lines[place], "", "", told)
    return keep


FORMAT = Format("tegrastats", "tegrastats log", "log", recognises, read)
