"""Which plain table format a file's content is, whatever its name says."""

import json

from profiling.formats.csv_rows import BOM, DELIMITERS, WIDE_BOMS
from profiling.formats.source import PARQUET, Source


def is_parquet(source: Source) -> bool:
    return source.head.startswith(PARQUET)


def is_json(source: Source) -> bool:
    return _start(source)[:1] in (b"{", b"[")


def is_json_lines(source: Source) -> bool:
    """A whole object on the first line, and more after it."""
    first, _, rest = _start(source).partition(b"\n")
    if not first.startswith(b"{") or not rest.strip():
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        goes_on = first.rstrip().endswith((b"[", b"{", b",", b":"))  # one JSON, laid out over lines
        return not goes_on and rest.lstrip().startswith(b'{"')


def is_text(source: Source) -> bool:
    """Mostly printable: a few NUL or foreign bytes are named line by line later."""
    head = source.head.rstrip(b"\0")  # what a power cut leaves at the end of a file is a bad line
    if not head and source.head:
        return False
    if head.startswith(WIDE_BOMS):
        return True  # text after all; the reader says what to do
    control = sum(head.count(bytes([code])) for code in range(32) if code not in b"\t\n\r\f")
    return control <= len(head) // 20


def is_bare_utf16(source: Source) -> bool:
    """Every other byte NUL, as in Latin text, and no mark to tell which."""
    halves = source.head[::2], source.head[1::2]
    empty, full = sorted((half.count(0) / max(1, len(half)) for half in halves), reverse=True)
    return empty > 0.9 and full < 0.1


def is_tab_separated(source: Source) -> bool:
    first = _start(source).split(b"\n", 1)[0]
    return is_text(source) and first.count(b"\t") > max(
        first.count(d.encode()) for d in DELIMITERS if d != "\t"
    )


def _start(source: Source) -> bytes:
    return source.head.removeprefix(BOM).lstrip()
