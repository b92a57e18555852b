"""What a worker does with an upload: read it, list what is wrong, stage the runs, show them all at once."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from profiling import formats
from profiling.errors import Conflict, InvalidInput, LabError
from profiling.formats import Limits, Mapping, MappingNeeded, Parsed, Problem
from profiling.formats.dreamlab_table import Runs
from profiling.models import Run, Upload
from profiling.receiving import incoming_folder
from profiling.services.agents import telemetry_store
from profiling.services.import_rows import parsed_runs
from profiling.services.uploads import WORK, runs_remove, runs_tell
from profiling.wake import wake_worker

State = Upload.State
WORKABLE = (State.RECEIVED, State.READING, State.IMPORTING)
LEASE = timedelta(minutes=5)
LEFTOVER = timedelta(days=1)
RUNS_AT_ONCE = 2000
PROBLEMS_SHOWN = 100


def upload_work(*, upload_id: int) -> None:
    """Take the upload as far as it goes without its user. Safe to call twice, or after a worker died."""
    if not _claim(upload_id):
        return
    upload = Upload.objects.select_related("workload", "device_model").get(pk=upload_id)
    failure = "The worker broke off; the server's log says why. Nothing was imported."
    try:
        upload_import(upload=upload, found=upload_read(upload=upload))
        failure = ""
    except MappingNeeded as asked:
        failure = ""
        _save(upload, state=State.MAPPING, proposal=asked.proposal.to_json())
    except LabError as error:
        failure = error.message
    finally:
        if failure:
            _fail(upload_id, failure)
        _save(upload, worked_until=None)


def uploads_wake() -> int:
    """Go on with what a lost message or a killed worker left behind; how many uploads that is."""
    open_ids = list(Upload.objects.filter(state__in=WORKABLE).values_list("pk", flat=True))
    for pk in open_ids:
        Upload.objects.filter(pk=pk, worked_until__lt=timezone.now()).update(worked_until=None)
        wake_worker(WORK, pk)
    for part in incoming_folder().glob("*.part"):
        if part.stat().st_mtime < (timezone.now() - LEFTOVER).timestamp():
            part.unlink(missing_ok=True)
    return len(open_ids)


def upload_read(*, upload: Upload) -> Parsed | Runs:
    """The whole file, its report kept beside the upload. MappingNeeded when columns must be asked for."""
    if upload.state == State.RECEIVED:
        _save(upload, state=State.READING)
    mapping = upload.mapping and Mapping.from_json(upload.mapping)
    board = upload.device_model
    assert board  # upload_receive asks for it
    alternative = replace(board.ranges, gpu_khz=tuple(board.other_gpu_khz)) if board.other_gpu_khz else None
    found = formats.read(
        Path(upload.file.path),
        upload.filename,
        mapping=mapping,
        legal=board.ranges,
        alternative=alternative,
        limits=Limits(file_bytes=settings.UPLOAD_MAX_BYTES),
        progress=lambda rows: _progress(upload, rows),
    )
    if not isinstance(found, Parsed | Runs):
        raise InvalidInput(f"{upload.filename} is telemetry. Send the table of its modes, times and powers.")
    _report(upload, _table(found))
    return found


def upload_import(*, upload: Upload, found: Parsed | Runs) -> None:
    """Import the good lines, unless some are bad and the user has still to say what to do, or said no."""
    parsed = _table(found)
    if not len(parsed):
        raise InvalidInput(f"None of the {parsed.row_count:,} lines is good; the report says why.")
    if parsed.problem_count and upload.on_bad_lines == "ask":
        _save(upload, state=State.CHOOSING)
    elif parsed.problem_count and upload.on_bad_lines == "nothing":
        _save(upload, state=State.REJECTED, finished=timezone.now(), rows_imported=0)
    else:
        _stage(upload, parsed)
        if isinstance(found, Runs):
            _keep_telemetry(upload, found)
        _publish(upload, len(parsed))


def _stage(upload: Upload, parsed: Parsed) -> None:
    """In short transactions, so that others may write meanwhile; nobody sees staged runs."""
    _save(upload, state=State.IMPORTING, rows_total=len(parsed), rows_done=0)
    runs_remove(_staged(upload.pk))
    runs, done = parsed_runs(upload=upload, parsed=parsed), 0
    while batch := list(islice(runs, RUNS_AT_ONCE)):
        Run.objects.bulk_create(batch)
        done += len(batch)
        _progress(upload, done)


def _keep_telemetry(upload: Upload, runs: Runs) -> None:
    for run in _staged(upload.pk):
        log = runs.run_of(run.line or 0).telemetry
        if log is None or not len(log):
            continue
        try:
            telemetry_store(run=run, columns=log.columns)
        except InvalidInput as error:  # the run's own numbers are good, so it is kept without
            run.unknowns["telemetry"] = error.message
            run.save(update_fields=["unknowns"])


def _table(found: Parsed | Runs) -> Parsed:
    return found.parsed if isinstance(found, Runs) else found


@transaction.atomic
def _publish(upload: Upload, count: int) -> None:
    mine = Upload.objects.filter(pk=upload.pk, state=State.IMPORTING)
    if not mine.update(state=State.DONE, finished=timezone.now(), rows_imported=count):
        raise Conflict(f"{upload.filename} changed while it was imported; nothing of it is kept.")
    if _staged(upload.pk).update(state=Run.State.COMPLETE) != count:
        raise Conflict(f"{upload.filename} was imported by two workers at once. Send it again.")
    runs_tell(upload)


def _claim(upload_id: int) -> bool:
    free = Q(worked_until=None) | Q(worked_until__lt=timezone.now())
    mine = Upload.objects.filter(free, pk=upload_id, state__in=WORKABLE)
    return bool(mine.update(worked_until=timezone.now() + LEASE))


def _progress(upload: Upload, rows: int) -> None:
    _save(upload, rows_done=rows, worked_until=timezone.now() + LEASE)


def _save(upload: Upload, **fields: object) -> None:
    for name, value in fields.items():
        setattr(upload, name, value)
    upload.save(update_fields=list(fields))


def _fail(upload_id: int, failure: str) -> None:
    mine = Upload.objects.filter(pk=upload_id, state__in=WORKABLE)
    if mine.update(state=State.FAILED, failure=failure, finished=timezone.now()):
        runs_remove(_staged(upload_id))


def _staged(upload_id: int) -> QuerySet[Run]:
    return Run.objects.filter(upload=upload_id, state=Run.State.STAGED)


def _report(upload: Upload, parsed: Parsed) -> None:
    if upload.report:
        upload.report.delete(save=False)
    if parsed.problems:
        text = _report_csv(parsed.problems, parsed.problem_count)
        upload.report.save(f"{upload.sha256}.csv", ContentFile(text.encode()), save=False)
    _save(
        upload,
        report=upload.report,
        format=parsed.format,
        mapping=parsed.mapping.to_json(),
        rows_total=parsed.row_count,
        problem_count=parsed.problem_count,
        problems=[problem._asdict() for problem in parsed.problems[:PROBLEMS_SHOWN]],
        notes=[note._asdict() for note in parsed.notes[:PROBLEMS_SHOWN]],
    )


def _report_csv(problems: list[Problem], count: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(Problem._fields)
    writer.writerows(_as_text(problem) for problem in problems)
    if count > len(problems):
        writer.writerow(["", "", "", f"and {count - len(problems):,} more"])
    return text.getvalue()


def _as_text(problem: Problem) -> Iterator[object]:
    """A leading = + - @ would make a spreadsheet compute what a stranger wrote; a quote keeps it text."""
    for cell in problem:
        formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        yield f"'{cell}" if formula else cell
