"""What a file holds, whatever its kind: what is wrong with it, and the runs it makes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import transaction

from profiling.bulk import rows_write
from profiling.errors import InvalidInput
from profiling.formats import Log, Parsed, Problem, Runs
from profiling.models import Run, Telemetry, Upload
from profiling.services.import_log import board_doubts, chunks_write, log_chunks, log_run
from profiling.services.import_rows import parsed_rows, parsed_runs, whole_file_provenance
from profiling.services.import_runs import folder_facts, folder_telemetry


@dataclass(frozen=True)
class Content:
    """write: stores the runs in short transactions, telling after each how many that were.

    attached: telemetry for the run the user named, instead of runs. good: how many lines, runs or samples
    come in. line_count: how many there are, good or bad.
    """

    format: str
    good: int
    line_count: int
    problems: list[Problem]
    problem_count: int
    notes: list[Problem]
    mapping: dict[str, Any] | None = None
    provenance: dict[str, str] = field(default_factory=dict)
    write: Callable[[], Iterator[int]] = field(default=lambda: iter(()))
    run_count: int = 0
    attached: list[Telemetry] = field(default_factory=list)


def content_of(*, upload: Upload, read: Parsed | Log | Runs) -> Content:
    if isinstance(read, Log):
        return _of_log(upload, read)
    if upload.run_id:
        raise InvalidInput(f"{upload.filename} is no telemetry log, so it cannot be added to a run.")
    if isinstance(read, Runs):
        return _of_table(read.parsed, partial(_folders, upload, read))
    return _of_table(read, partial(_write_table, upload, read))


def _of_table(parsed: Parsed, write: Callable[[], Iterator[int]]) -> Content:
    return Content(
        format=parsed.format,
        good=len(parsed),
        line_count=parsed.row_count,
        problems=parsed.problems,
        problem_count=parsed.problem_count,
        notes=parsed.notes,
        mapping=parsed.mapping.to_json(),
        provenance=whole_file_provenance(parsed) | _member(parsed),
        write=write,
        run_count=len(parsed),
    )


def _member(read: Parsed | Log) -> dict[str, str]:
    return {"member": read.member} if read.member else {}


def _write_table(upload: Upload, parsed: Parsed) -> Iterator[int]:
    for rows, shared in parsed_rows(upload=upload, parsed=parsed):
        rows_write(Run, rows, shared)
        yield len(rows)


def _folders(upload: Upload, read: Runs) -> Iterator[int]:
    for run in parsed_runs(upload=upload, parsed=read.parsed):
        assert run.line is not None  # a table's rows have their place
        measured = read.run_of(run.line)
        for name, value in folder_facts(run, measured).items():
            setattr(run, name, value)
        yield _write_run(run, folder_telemetry(upload, run, measured))


@transaction.atomic
def _write_run(run: Run, chunks: list[Telemetry]) -> int:
    run.save(force_insert=True)
    chunks_write(run, chunks)
    return 1


def _of_log(upload: Upload, log: Log) -> Content:
    assert upload.device_model is not None  # upload_receive asks for it
    doubts, notes = board_doubts(upload.device_model, log)
    shared: dict[str, Any] = {
        "format": log.format,
        "good": int((~log.repeated).sum()),
        "line_count": log.line_count,
        "problems": [*doubts, *log.problems],
        "problem_count": len(doubts) + log.problem_count,
        "notes": [*notes, *log.notes],
        "provenance": _member(log),
    }
    if upload.run_id:
        return Content(**shared, attached=log_chunks(upload, log))
    # Now, so that the log itself need not be held until they are written.
    run, chunks = log_run(upload, log), log_chunks(upload, log)
    return Content(**shared, write=lambda: iter([_write_run(run, chunks)]), run_count=1)
