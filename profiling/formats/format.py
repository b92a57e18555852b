"""What a format is: how to recognise it, and how to read it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from profiling.formats.batches import Rows
from profiling.formats.mapping import Mapping
from profiling.formats.plausible import Hints
from profiling.formats.repeats import Repeated
from profiling.formats.source import Source
from profiling.formats.table import Progress, read_rows_as

Kind = Literal["table", "log", "runs"]


@dataclass(frozen=True)
class Options:
    """What the reader is told besides the file."""

    mapping: Mapping | None = None
    hints: Hints = field(default_factory=Hints)
    repeats: Repeated = "refuse"
    progress: Progress | None = None
    interval_s: float | None = None  # between the lines of a log without times


@dataclass(frozen=True)
class Format:
    """kind: "table" reads to Parsed, "log" to Log (telemetry), "runs" to Runs (measured runs with telemetry).

    `rows` is there for tables whose columns the user may map.
    """

    name: str
    title: str
    kind: Kind
    recognises: Callable[[Source], bool]
    read: Callable[[Source, Options], Any]
    rows: Callable[[Source], Rows] | None = None


def table_format(
    name: str, title: str, recognises: Callable[[Source], bool], rows: Callable[[Source], Rows]
) -> Format:
    def read(source: Source, options: Options) -> Any:
        parsed = read_rows_as(
            rows(source), options.mapping, options.hints, source.limits, options.repeats, options.progress
        )
        return replace(parsed, format=name)

    return Format(name, title, "table", recognises, read, rows)
