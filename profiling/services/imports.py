"""What a worker does with an upload: read it, list what is wrong, stage the runs, show them all at once."""

import csv
import io
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.db import OperationalError, transaction
from django.db.models import Max, Min, Q
from django.utils import timezone

from profiling import formats
from profiling.bulk import tables_count
from profiling.errors import Conflict, InvalidInput, LabError
from profiling.formats import Limits, Log, Mapping, MappingNeeded, Problem
from profiling.models import Run, Telemetry, Upload
from profiling.outages import outage_of
from profiling.receiving import incoming_folder
from profiling.services.import_content import Content, content_of
from profiling.services.import_log import chunks_write
from profiling.services.transfers import transfers_forget
from profiling.services.uploads import GONE, WORK, runs_remove, runs_tell, upload_clear
from profiling.telemetry import TIME
from profiling.wake import wake_worker
from profiling.writers import no_formula

logger = logging.getLogger(__name__)

State = Upload.State
WORKABLE = (State.RECEIVED, State.READING, State.IMPORTING)
LEASE = timedelta(minutes=5)
LEFTOVER = timedelta(days=1)
PROBLEMS_SHOWN = 100
MANY = 10_000  # runs that make a database count anew
ROOM = 30  # a minibatch of another size takes as many times longer; a wrong unit a thousand times


def upload_work(*, upload_id: int, besides: Sequence[Problem] = ()) -> None:
    """Take the upload as far as it goes without its user. Safe to call twice, or after a worker died.

    besides: problems that were found before the file was read.
    """
    if not _claim(upload_id):
        return
    upload = Upload.objects.select_related("workload", "device_model").get(pk=upload_id)
    failure = "The worker broke off; the server's log says why. Nothing was imported."
    try:
        if content := upload_read(upload=upload, besides=besides):
            upload_import(upload=upload, content=content)
        failure = ""
    except MappingNeeded as asked:
        failure = ""
        _save(upload, state=State.MAPPING, proposal=asked.proposal.to_json())
    except LabError as error:
        failure = error.message
    except (OSError, OperationalError) as error:
        if not (outage := outage_of(error)):
            raise
        logger.exception("upload %s", upload_id)
        failure = outage.message
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
    for pk in list(Upload.objects.filter(hidden=True, state__in=GONE).values_list("pk", flat=True)):
        upload_clear(upload_id=pk)
    for part in incoming_folder().glob("*.part"):
        if part.stat().st_mtime < (timezone.now() - LEFTOVER).timestamp():
            part.unlink(missing_ok=True)
    transfers_forget(before=timezone.now() - LEFTOVER)
    return len(open_ids)


def upload_read(*, upload: Upload, besides: Sequence[Problem] = ()) -> Content | None:
    """The whole file, its report kept beside the upload. MappingNeeded when columns must be asked for.

    None when it is a log without times: how far apart its lines are must be asked for.
    """
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
        plausible=_plausible(upload),
        minibatch=upload.workload.minibatch if upload.workload else None,
        limits=Limits(file_bytes=settings.UPLOAD_MAX_BYTES),
        progress=lambda rows: _progress(upload, rows),
        repeats="keep" if upload.repeats == "keep" else "refuse",
        interval_s=upload.interval_s,
    )
    if isinstance(found, Log) and TIME not in found.columns:
        _save(upload, state=State.MAPPING, format=found.format, proposal=_interval_asked(found))
        return None
    content = content_of(upload=upload, read=found)
    if besides:
        problems = sorted([*content.problems, *besides])
        content = replace(content, problems=problems, problem_count=content.problem_count + len(besides))
    _report(upload, content)
    return content


def _plausible(upload: Upload) -> dict[str, tuple[float, float]]:
    """What this pair measured before, and room around it: seconds labelled ms fall out of it."""
    pair = {"workload": upload.workload, "device_model": upload.device_model, "state": Run.State.COMPLETE}
    bounds = {f"{name}_{of.name}": of(name) for name in ("time_ms", "power_mw") for of in (Min, Max)}
    known = Run.objects.filter(**pair).aggregate(**bounds)
    ranges = {name: (known[f"{name}_Min"], known[f"{name}_Max"]) for name in ("time_ms", "power_mw")}
    return {name: (low / ROOM, high * ROOM) for name, (low, high) in ranges.items() if low is not None}


def _interval_asked(log: Log) -> dict[str, object]:
    return {"asks": "interval_s", "questions": [log.unknown[TIME]], "columns": [], "preview": []}


def upload_import(*, upload: Upload, content: Content) -> None:
    """Import the good lines, unless some are bad and the user has still to say what to do, or said no."""
    if not content.good:
        raise InvalidInput(f"None of the {content.line_count:,} lines is good; the report says why.")
    if content.problem_count and upload.on_bad_lines == "ask":
        _save(upload, state=State.CHOOSING)
    elif content.problem_count and upload.on_bad_lines == "nothing":
        _save(upload, state=State.REJECTED, finished=timezone.now(), rows_imported=0)
    else:
        _stage(upload, content)
        _publish(upload, content)
        if content.run_count >= MANY:
            tables_count()


def _stage(upload: Upload, content: Content) -> None:
    """In short transactions, so that others may write meanwhile; nobody sees runs of a hidden upload."""
    _save(upload, state=State.IMPORTING, hidden=True, rows_total=content.good, rows_done=0)
    runs_remove(upload.pk)
    done = 0
    for written in content.write():
        done += written
        _progress(upload, done)


@transaction.atomic
def _publish(upload: Upload, content: Content) -> None:
    mine = Upload.objects.filter(pk=upload.pk, state=State.IMPORTING)
    done = {"state": State.DONE, "finished": timezone.now(), "rows_imported": content.good}
    if not mine.update(hidden=False, **done):
        raise Conflict(f"{upload.filename} changed while it was imported; nothing of it is kept.")
    if Run.everything.filter(upload=upload).count() != content.run_count:
        raise Conflict(f"{upload.filename} was imported by two workers at once. Send it again.")
    if content.attached:
        _attach(upload, content.attached)
    runs_tell(upload)


def _attach(upload: Upload, chunks: list[Telemetry]) -> None:
    if upload.run is None:
        raise Conflict(f"The run that {upload.filename} was sent for is gone.")
    if Telemetry.objects.filter(run=upload.run).exists():
        raise Conflict(f"Run {upload.run_id} has telemetry already. Undo what brought it first.")
    chunks_write(upload.run, chunks)


def _claim(upload_id: int) -> bool:
    now = timezone.now()  # beyond two leases, the clock was set back since
    free = Q(worked_until=None) | Q(worked_until__lt=now) | Q(worked_until__gt=now + 2 * LEASE)
    mine = Upload.objects.filter(free, pk=upload_id, state__in=WORKABLE)
    return bool(mine.update(worked_until=now + LEASE))


def _progress(upload: Upload, rows: int) -> None:
    _save(upload, rows_done=rows, worked_until=timezone.now() + LEASE)


def _save(upload: Upload, **fields: object) -> None:
    if "state" in fields:
        fields["state_since"] = timezone.now()
    for name, value in fields.items():
        setattr(upload, name, value)
    upload.save(update_fields=list(fields))


def _fail(upload_id: int, failure: str) -> None:
    mine = Upload.objects.filter(pk=upload_id, state__in=WORKABLE)
    if mine.update(state=State.FAILED, failure=failure, finished=timezone.now()):
        upload_clear(upload_id=upload_id)


def _report(upload: Upload, content: Content) -> None:
    if upload.report:
        upload.report.delete(save=False)
    if content.problems:
        text = _report_csv(content.problems, content.problem_count)
        upload.report.save(f"{upload.sha256}.csv", ContentFile(text.encode()), save=False)
    _save(
        upload,
        report=upload.report,
        format=content.format,
        mapping=content.mapping or upload.mapping,
        provenance=content.provenance,
        rows_total=content.line_count,
        problem_count=content.problem_count,
        problems=[problem._asdict() for problem in content.problems[:PROBLEMS_SHOWN]],
        notes=[note._asdict() for note in _first(content.notes)],
    )


def _first(notes: list[Problem]) -> list[Problem]:
    more = len(notes) - PROBLEMS_SHOWN
    return [*notes[:PROBLEMS_SHOWN], *([Problem(0, "", "", f"and {more:,} more")] if more > 0 else [])]


def _report_csv(problems: list[Problem], count: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(Problem._fields)
    writer.writerows(_as_text(problem) for problem in problems)
    if count > len(problems):
        writer.writerow(["", "", "", f"and {count - len(problems):,} more"])
    return text.getvalue()


def _as_text(problem: Problem) -> Iterator[object]:
    for cell in problem:
        yield no_formula(cell) if isinstance(cell, str) else cell
