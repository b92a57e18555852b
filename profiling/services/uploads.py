"""What people do with a measurements file; what a worker does with it is in services/imports.py."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from profiling.errors import Conflict, Forbidden, InvalidInput, LabError, TooLarge
from profiling.models import DatasetVersion, Device, DeviceModel, Run, Telemetry, Upload, Workload
from profiling.permissions import has_role
from profiling.receiving import ReceivedFile, kept_with_its_row
from profiling.services.audit import Action, audit
from profiling.signals import runs_changed
from profiling.wake import wake_worker

State = Upload.State
WORK = "profiling.tasks.upload_work"
CLEAR = "profiling.tasks.upload_clear"
ON_BAD_LINES = ("ask", "good", "nothing")
REPEATS = ("refuse", "keep")
GONE = (State.REJECTED, State.UNDONE, State.FAILED)
REMOVED_AT_ONCE = 500
LONGEST_INTERVAL_S = 3600


def upload_receive(*, file: ReceivedFile, **about: Any) -> tuple[Upload, bool]:
    """The upload, and whether it is new: a file sent again is answered with its first upload.

    about: the rest of what upload_new takes.
    """
    return upload_keep(upload_new(file=file, **about), file)


def upload_new(
    *,
    file: ReceivedFile,
    user: User,
    workload: Workload,
    device_model: DeviceModel,
    device: Device | None = None,
    idempotency_key: str = "",
    on_bad_lines: str = "ask",
    repeats: str = "refuse",
    emulated: bool = False,
    run: Run | None = None,
    interval_s: float | None = None,
) -> Upload:
    """Not stored yet. run: the run whose telemetry the file is. interval_s: between lines without times."""
    upload = Upload(
        filename=file.name or "unnamed",
        size=file.size,
        sha256=file.sha256,
        idempotency_key=idempotency_key,
        uploader=user,
        workload=workload,
        device_model=device_model,
        device=device,
        on_bad_lines=on_bad_lines,
        repeats=repeats,
        emulated=emulated or bool(device and device.emulated),
        run=run,
        interval_s=interval_s,
    )
    try:
        _check_received(file, device_model, device, upload)
        _check_log(upload)
    except LabError:
        file.close()
        raise
    return upload


def upload_keep(upload: Upload, file: ReceivedFile, *, wake: bool = True) -> tuple[Upload, bool]:
    with file:
        first = _sent_before(upload)
        return (first, False) if first else _store(upload, file, wake)


def _store(upload: Upload, file: ReceivedFile, wake: bool) -> tuple[Upload, bool]:
    try:
        with kept_with_its_row(upload.file), transaction.atomic():
            upload.file.save(file.sha256, file, save=False)
            upload.save()
            audit(Action.UPLOAD_SEND, upload, user=upload.uploader, sha256=file.sha256, bytes=upload.size)
            if wake:
                wake_worker(WORK, upload.pk)
    except IntegrityError:  # it arrived twice at the same moment
        if first := _sent_before(upload):
            return first, False
        raise
    return upload, True


def upload_map(*, upload: Upload, user: User, mapping: dict[str, Any]) -> Upload:
    """The user's answer to what the columns are; see profiling.formats.Mapping for its shape.

    Of a log without times it is {"interval_s": seconds between its lines}.
    """
    if (upload.proposal or {}).get("asks") == "interval_s":
        interval_s = _interval(mapping.get("interval_s"))
        return _decide(upload, user, (State.MAPPING,), state=State.READING, interval_s=interval_s)
    # Here, since it brings pandas, which web processes do without until somebody maps a file.
    from profiling.formats.mapping import Mapping

    chosen = Mapping.from_json(mapping)
    if upload.proposal:
        chosen.check(tuple(guess["column"] for guess in upload.proposal["columns"]))
    return _decide(upload, user, (State.MAPPING,), state=State.READING, mapping=chosen.to_json())


def upload_choose(*, upload: Upload, user: User, choice: str) -> Upload:
    """Some lines are bad: import the good ones, or nothing."""
    if choice not in ("good", "nothing"):
        raise InvalidInput(f"The choice is 'good' (import the good lines) or 'nothing', not {choice!r}.")
    if choice == "good":
        return _decide(upload, user, (State.CHOOSING,), state=State.IMPORTING, on_bad_lines=choice)
    done = {"state": State.REJECTED, "finished": timezone.now(), "rows_imported": 0}
    return _decide(upload, user, (State.MAPPING, State.CHOOSING), on_bad_lines=choice, **done)


@transaction.atomic
def upload_undo(*, upload: Upload, user: User) -> Upload:
    """Take every run of the file away again, all at once. The file is kept, and may be sent once more."""
    _step(upload, user, (State.DONE,), state=State.UNDONE, hidden=True, finished=timezone.now())
    if log := Upload.objects.filter(run__upload=upload).exclude(state__in=GONE).first():
        raise Conflict(f"{log.filename} is the telemetry of run {log.run_id} of this file. Undo it first.")
    if frozen := DatasetVersion.objects.filter(runs__upload=upload).first():
        raise Conflict(f"Runs of {upload.filename} are in {frozen}, a frozen dataset, so they stay.")
    Telemetry.objects.filter(upload=upload).exclude(run__upload=upload).delete()
    runs_tell(upload)
    wake_worker(CLEAR, upload.pk)
    audit(Action.UPLOAD_UNDO, upload, user=user)
    return upload


def upload_clear(*, upload_id: int) -> None:
    """Delete what nobody sees any more of a file that was undone, or failed on its way in."""
    if Upload.objects.filter(pk=upload_id, hidden=True, state__in=GONE).exists():
        runs_remove(upload_id)
        Upload.objects.filter(pk=upload_id).update(hidden=False)


def runs_remove(upload_id: int) -> None:
    """Some at a time, each in a short transaction: a deletion gathers in memory what it deletes."""
    runs = Run.everything.filter(upload=upload_id)
    while some := list(runs.values_list("pk", flat=True)[:REMOVED_AT_ONCE]):
        Run.everything.filter(pk__in=some).delete()


def runs_tell(upload: Upload) -> None:
    """Tell listeners, after commit, that the runs of the upload's pair changed."""
    pair = {"workload_id": upload.workload_id, "device_model_id": upload.device_model_id}
    transaction.on_commit(lambda: runs_changed.send(Upload, **pair))


@transaction.atomic
def _decide(upload: Upload, user: User, allowed: tuple[State, ...], **fields: Any) -> Upload:
    _step(upload, user, allowed, **fields)
    told = {name: value for name, value in fields.items() if name not in ("state", "finished")}
    audit(Action.UPLOAD_DECIDE, upload, user=user, **told)
    return upload


def _step(upload: Upload, user: User, allowed: tuple[State, ...], **fields: Any) -> Upload:
    """Change state if it still is one of `allowed`: of two people pressing at once, one is told so."""
    if upload.uploader_id != user.pk and not has_role(user, "admin"):
        raise Forbidden(f"{upload.filename} was uploaded by somebody else. Ask them or an administrator.")
    with transaction.atomic():
        if not Upload.objects.filter(pk=upload.pk, state__in=allowed).update(**fields):
            upload.refresh_from_db()
            words = " or ".join(allowed)
            raise Conflict(f"{upload.filename} is {upload.state}; this step is for a file that is {words}.")
        wake_worker(WORK, upload.pk)
    upload.refresh_from_db()
    return upload


def _sent_before(upload: Upload) -> Upload | None:
    content = {name: getattr(upload, name) for name in ("sha256", "workload", "device_model")}
    if by_key := _by_key(upload):
        if any(getattr(by_key, name) != value for name, value in content.items()):
            raise Conflict(
                f"The Idempotency-Key {upload.idempotency_key!r} came with another file before, "
                f"or for another workload or device model: {by_key.filename}. Take a new key for a new file."
            )
        if by_key.state not in GONE:
            return by_key
        # Nothing is left of what the key stood for, so it stands for this file from now on.
        Upload.objects.filter(pk=by_key.pk).update(idempotency_key="")
    first = Upload.objects.filter(**content).exclude(state__in=GONE).first()
    if first and first.run_id != upload.run_id:
        raise Conflict(f"This file came before, as upload {first.pk} for another run. Undo that first.")
    return first


def _by_key(upload: Upload) -> Upload | None:
    if not upload.idempotency_key:
        return None
    return Upload.objects.filter(uploader=upload.uploader, idempotency_key=upload.idempotency_key).first()


def _interval(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 < value <= LONGEST_INTERVAL_S:
        raise InvalidInput(
            f"interval_s must be the seconds between two lines, up to {LONGEST_INTERVAL_S:,}, not {value!r}."
        )
    return float(value)


def _check_log(upload: Upload) -> None:
    if upload.interval_s is not None:
        _interval(upload.interval_s)
    run = upload.run
    if run is None:
        return
    if run.state != Run.State.COMPLETE:
        raise Conflict(f"Run {run.pk} is {run.state}; telemetry can be added to a complete run.")
    if (run.workload_id, run.device_model_id) != (upload.workload_id, upload.device_model_id):
        raise InvalidInput(f"Run {run.pk} is of {run.workload} on {run.device_model}.")


def _check_received(
    file: ReceivedFile, device_model: DeviceModel, device: Device | None, upload: Upload
) -> None:
    file.check_whole()
    if file.too_large:
        most = settings.UPLOAD_MAX_BYTES >> 20
        raise TooLarge(f"{file.name} is larger than {most:,} MiB. Split it, or raise UPLOAD_MAX_MB.")
    if not file.size:
        raise InvalidInput(f"{file.name} is empty. Send a file with a header and at least one line.")
    if device and device.device_model_id != device_model.pk:
        raise InvalidInput(f"{device} is a {device.device_model}, not a {device_model}.")
    for name, known in (("on_bad_lines", ON_BAD_LINES), ("repeats", REPEATS)):
        if (value := getattr(upload, name)) not in known:
            raise InvalidInput(f"{name} is one of {', '.join(known)}, not {value!r}.")
