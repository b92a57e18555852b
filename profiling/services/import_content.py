"""What a file holds, whatever its kind: what is wrong with it, and the runs it makes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from profiling.errors import InvalidInput
from profiling.formats import Log, Parsed, Problem, Runs
from profiling.models import Run, Telemetry, Upload
from profiling.services.import_log import log_chunks, log_run
from profiling.services.import_rows import parsed_runs
from profiling.services.import_runs import folder_facts, folder_telemetry


class Staged(NamedTuple):
    run: Run
    telemetry: list[Telemetry] = []  # noqa: RUF012 (never added to)


@dataclass(frozen=True)
class Content:
    """runs: makes them, as often as asked. attached: telemetry for the run the user named, instead of runs.

    good: how many lines, runs or samples come in. line_count: how many there are, good or bad.
    """

    format: str
    good: int
    line_count: int
    problems: list[Problem]
    problem_count: int
    notes: list[Problem]
    mapping: dict[str, Any] | None = None
    runs: Callable[[], Iterator[Staged]] = field(default=lambda: iter(()))
    run_count: int = 0
    attached: list[Telemetry] = field(default_factory=list)


def content_of(*, upload: Upload, read: Parsed | Log | Runs) -> Content:
    if isinstance(read, Log):
        return _of_log(upload, read)
    if upload.run_id:
        raise InvalidInput(f"{upload.filename} is no telemetry log, so it cannot be added to a run.")
    if isinstance(read, Runs):
        return _of_table(read.parsed, partial(_folders, upload, read))
    return _of_table(read, lambda: (Staged(run) for run in parsed_runs(upload=upload, parsed=read)))


def _of_table(parsed: Parsed, runs: Callable[[], Iterator[Staged]]) -> Content:
    return Content(
        format=parsed.format,
        good=len(parsed),
        line_count=parsed.row_count,
        problems=parsed.problems,
        problem_count=parsed.problem_count,
        notes=parsed.notes,
        mapping=parsed.mapping.to_json(),
        runs=runs,
        run_count=len(parsed),
    )


def _folders(upload: Upload, read: Runs) -> Iterator[Staged]:
    for run in parsed_runs(upload=upload, parsed=read.parsed):
        assert run.line is not None  # a table's rows have their place
        measured = read.run_of(run.line)
        for name, value in folder_facts(run, measured).items():
            setattr(run, name, value)
        yield Staged(run, folder_telemetry(upload, run, measured))


def _of_log(upload: Upload, log: Log) -> Content:
    shared: dict[str, Any] = {
        "format": log.format,
        "good": int((~log.repeated).sum()),
        "line_count": log.line_count,
        "problems": log.problems,
        "problem_count": log.problem_count,
        "notes": log.notes,
    }
    chunks = log_chunks(upload, log)
    if upload.run_id:
        return Content(**shared, attached=chunks)
    return Content(**shared, runs=lambda: iter([Staged(log_run(upload, log), chunks)]), run_count=1)
