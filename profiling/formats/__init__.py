"""Files people have, read into typed columns in kHz, ms and mW, every bad line named.

    found = detect(path, "sweep.csv")                       # Format: name, title, kind
    proposal = propose(path, "sweep.csv", legal=ranges)     # tables only: what the columns seem to be
    parsed = read(path, "sweep.csv", mapping=mapping, legal=ranges)

`read` gives Parsed for a table, Log for telemetry, Runs for a folder or zip of whole runs.
"""

from collections.abc import Mapping as AnyMapping
from pathlib import Path

from profiling.formats.dreamlab_run import DreamlabRun
from profiling.formats.dreamlab_table import Runs
from profiling.formats.format import Format, Options
from profiling.formats.log import Log
from profiling.formats.mapping import Column, Mapping
from profiling.formats.parsed import Parsed
from profiling.formats.plausible import Hints
from profiling.formats.problems import FileTooLarge, FormatError, Limits, Problem
from profiling.formats.proposal import Guess, Proposal
from profiling.formats.registry import FORMATS, format_of
from profiling.formats.repeats import Repeated
from profiling.formats.source import Source
from profiling.formats.table import MappingNeeded, Progress, propose_for
from profiling.formats.zipped import as_member, unzipped
from profiling.knobs import KnobRange

__all__ = [
    "FORMATS",
    "Column",
    "DreamlabRun",
    "FileTooLarge",
    "Format",
    "FormatError",
    "Guess",
    "Limits",
    "Log",
    "Mapping",
    "MappingNeeded",
    "Parsed",
    "Problem",
    "Proposal",
    "Runs",
    "detect",
    "propose",
    "read",
]

Plausible = AnyMapping[str, tuple[float, float]]


def detect(path: Path, filename: str = "", *, limits: Limits | None = None) -> Format:
    """The format of a file's content; FormatError when it is none we know."""
    return format_of(_source(path, filename, limits))


def propose(
    path: Path,
    filename: str = "",
    *,
    legal: KnobRange | None = None,
    alternative: KnobRange | None = None,
    plausible: Plausible | None = None,
    minibatch: int | None = None,
    limits: Limits | None = None,
) -> Proposal | None:
    """What a table's columns seem to be; None for formats that need no mapping."""
    source = _source(path, filename, limits)
    rows = format_of(source).rows
    return propose_for(rows(source), Hints(legal, alternative, plausible, minibatch)) if rows else None


def read(
    path: Path,
    filename: str = "",
    *,
    mapping: Mapping | None = None,
    legal: KnobRange | None = None,
    alternative: KnobRange | None = None,
    plausible: Plausible | None = None,
    minibatch: int | None = None,
    repeats: Repeated = "refuse",
    limits: Limits | None = None,
    progress: Progress | None = None,
    interval_s: float | None = None,
) -> Parsed | Log | Runs:
    """The file's content: Parsed, Log or Runs, by the format's kind.

    legal: the board's steps; alternative: those of another firmware of the same board. plausible: field →
    (low, high) of a typical value, to notice seconds labelled ms. minibatch: the workload's, to hold samples
    per second against the time. repeats: "refuse" makes a mode that comes again with other values a problem,
    "keep" a note. progress is told the rows read so far. interval_s: seconds between the lines of a log that
    carries no times.

    Raises FormatError when the file cannot be read at all, MappingNeeded when its columns must be asked for,
    InvalidInput when the mapping does not fit.
    """
    source = _source(path, filename, limits)
    options = Options(mapping, Hints(legal, alternative, plausible, minibatch), repeats, progress, interval_s)
    return as_member(source, format_of(source).read(source, options))


def _source(path: Path, filename: str, limits: Limits | None) -> Source:
    return unzipped(Source(Path(path), filename or Path(path).name, limits or Limits()))
