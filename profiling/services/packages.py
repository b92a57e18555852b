"""Users' own workloads: code that boards will run, so it is looked at before it is kept."""

from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from profiling.errors import Conflict, Forbidden, InvalidInput, NotFound, TooLarge
from profiling.models import Device, Run, Workload, WorkloadPackage
from profiling.permissions import has_role
from profiling.receiving import ReceivedFile, kept_with_its_row
from profiling.services.audit import Action, audit
from profiling.workloads.package import Package, inspect

HELD = (Run.State.PENDING, Run.State.CLAIMED)


def package_receive(*, workload: Workload, file: ReceivedFile, user: User) -> tuple[WorkloadPackage, bool]:
    """The workload's package, and whether it is new: the same file again changes nothing.

    1. who may, 2. how large, 3. what is in it, 4. whether it may still change; only then it is kept.
    """
    with file:
        _check_person(workload, user)
        found = _inspected(workload, file)
        old = WorkloadPackage.objects.filter(workload=workload).first()
        if old is not None and old.sha256 == file.sha256:
            return old, False
        package = _keep(workload, file, found, user)
        audit(Action.PACKAGE_SEND, workload, user=user, file=package.filename, sha256=package.sha256)
        return package, True


def _check_person(workload: Workload, user: User) -> None:
    if not has_role(user, "engineer"):
        raise Forbidden("A workload's package is code that runs on boards: this needs the role engineer.")
    if workload.owner_id != user.pk and not has_role(user, "admin"):
        raise Forbidden(
            f"Only {workload.owner or 'an administrator'} or an administrator may change {workload}."
        )


def _inspected(workload: Workload, file: ReceivedFile) -> Package:
    file.check_whole()
    if file.too_large:
        most = settings.UPLOAD_MAX_BYTES >> 20
        raise TooLarge(f"{file.name} is larger than {most:,} MiB. Shrink it, or raise UPLOAD_MAX_MB.")
    package = inspect(Path(file.temporary_file_path()), file.name or "unnamed")
    if package.kind != "python" and workload.kind != Workload.Kind.INFERENCE:
        raise InvalidInput(
            f"{file.name} can be used for inference only, and {workload} is a training. Send a zip with "
            "workload.py, or make a workload of the kind inference."
        )
    return package


@transaction.atomic
def _keep(workload: Workload, file: ReceivedFile, found: Package, user: User) -> WorkloadPackage:
    workload = Workload.objects.select_for_update().get(pk=workload.pk)
    if Run.objects.filter(workload=workload).exists():
        raise Conflict(f"{workload} has runs, so its package cannot change. Make a new workload.")
    WorkloadPackage.objects.filter(workload=workload).delete()
    package = WorkloadPackage(
        workload=workload,
        filename=file.name or "unnamed",
        kind=found.kind,
        sha256=file.sha256,
        size=file.size,
        files=found.files,
        unpacked_bytes=found.unpacked_bytes,
        uploader=user,
    )
    with kept_with_its_row(package.file):
        package.file.save(f"{file.sha256}{Path(package.filename).suffix.lower()}", file, save=False)
        package.save()
    return package


def package_for_device(*, device: Device, sha256: str) -> WorkloadPackage:
    """The package, for a board that has something of it to run, and for no other."""
    wanted = WorkloadPackage.objects.filter(
        sha256=sha256, workload__runs__device=device, workload__runs__state__in=HELD
    )
    package = wanted.first()
    if package is None:
        raise NotFound(f"No pending run of {device} has the package {sha256[:12]}… Claim a run first.")
    return package
