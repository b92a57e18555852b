"""Named collections of runs, and the versions that freeze them."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.utils.text import slugify

from profiling.errors import Conflict, Forbidden, InvalidInput
from profiling.filter_fields import Filters
from profiling.models import Dataset, DatasetRun, DatasetVersion, Run, Upload
from profiling.permissions import has_role
from profiling.receiving import kept_with_its_row, received
from profiling.run_filters import ADD, REMOVE, dataset_runs
from profiling.selectors.datasets import dataset_card
from profiling.selectors.exports import Export
from profiling.services.audit import Action, audit
from profiling.services.checks import check_fields

MEMBERS_AT_ONCE = 5000
MOST_STEPS = 50
ONLY = "only"


@transaction.atomic
def dataset_create(*, user: User, name: str, filters: Filters, **about: Any) -> Dataset:
    """filters: as in the address of the run list."""
    slug = slugify(name)[:80]
    if not slug:
        raise InvalidInput(f"The name {name!r} needs at least one letter or digit.")
    if taken := Dataset.objects.filter(slug=slug).first():
        words = f"{taken} already exists, whose address this name would have too. Take another name."
        raise InvalidInput(words, errors={"name": [words]})
    dataset = Dataset(name=name.strip(), slug=slug, owner=user, filters=filters, **about)
    dataset_runs(dataset)  # refuses filters that make no sense
    check_fields(dataset)
    dataset.save()
    audit(Action.DATASET_CREATE, dataset, user=user, filters=filters)
    return dataset


@transaction.atomic
def dataset_update(*, dataset: Dataset, user: User, **changes: Any) -> Dataset:
    """What a dataset will hold and say from its next version on. The slug stays, as addresses hold it."""
    _check_owner(dataset, user)
    for name, value in changes.items():
        setattr(dataset, name, value)
    dataset_runs(dataset)
    check_fields(dataset)
    dataset.save()
    audit(Action.DATASET_CHANGE, dataset, user=user, changed=changes)
    return dataset


def dataset_take(*, dataset: Dataset, user: User, take: str, filters: Filters) -> Dataset:
    """take: "add" or "remove" the runs that the filters find, or hold "only" those."""
    if take == ONLY:
        return dataset_update(dataset=dataset, user=user, filters=filters, steps=[])
    if take not in (ADD, REMOVE):
        raise InvalidInput(f"take is {ADD}, {REMOVE} or {ONLY}, not {take!r}.")
    if not filters:
        raise InvalidInput(f"Choose by at least one filter which runs to {take}.")
    if len(dataset.steps) >= MOST_STEPS:
        raise InvalidInput(f"{dataset} has {MOST_STEPS} steps already. Start again with {ONLY!r}.")
    steps = [*dataset.steps, {"take": take, "filters": filters}]
    return dataset_update(dataset=dataset, user=user, steps=steps)


def dataset_freeze(*, dataset: Dataset, user: User, notes: str = "") -> DatasetVersion:
    """Its complete runs as they are now, as a version that never changes.

    1. The CSV is written and hashed, in short reads. 2. Version and members are stored at once.
    """
    _check_owner(dataset, user)
    runs = dataset_runs(dataset)
    export, ids = Export(runs, "csv", dataset.filters, user.get_username()), list[int]()
    with received(export.pieces(seen=ids.extend), f"{dataset.slug}.csv") as file:
        _check_freezable(dataset, file.sha256, len(ids), file.too_large)
        version = DatasetVersion(
            dataset=dataset,
            sha256=file.sha256,
            size=file.size,
            run_count=len(ids),
            card=dataset_card(dataset, runs, export),
            notes=notes,
            author=user,
        )
        with kept_with_its_row(version.file), transaction.atomic():
            version.number = dataset.versions.count() + 1
            version.file.save(f"{dataset.slug}-v{version.number}.csv", file, save=False)
            version.save()
            for some in _batches(iter(ids)):
                DatasetRun.objects.bulk_create(DatasetRun(version=version, run_id=pk) for pk in some)
            _hold_uploads(version)
            if Run.objects.filter(memberships__version=version).count() != len(ids):
                raise Conflict(f"Runs of {dataset} were taken away while it was frozen. Try again.")
            audit(Action.DATASET_FREEZE, dataset, user=user, version=version.number, sha256=file.sha256)
    return version


def _hold_uploads(version: DatasetVersion) -> None:
    """Whoever undoes one of them meanwhile waits, then finds it frozen. SQLite has one writer anyway."""
    uploads = Run.everything.filter(memberships__version=version, upload__isnull=False).values("upload")
    list(Upload.objects.filter(pk__in=uploads).select_for_update(no_key=True).values_list("pk", flat=True))


def _check_freezable(dataset: Dataset, sha256: str, count: int, too_large: bool) -> None:
    if not count:
        raise InvalidInput(f"{dataset} holds no complete run yet, so there is nothing to freeze.")
    if too_large:
        raise InvalidInput(f"{dataset} is larger than UPLOAD_MAX_MB. Narrow its filters, or raise that.")
    if same := dataset.versions.filter(sha256=sha256).first():
        raise Conflict(f"Nothing changed since version {same.number} of {dataset}.")


def may_change(dataset: Dataset, user: User | AnonymousUser) -> bool:
    """Its owner while an engineer, and administrators."""
    return has_role(user, "admin" if dataset.owner_id != user.pk else "engineer")


def _check_owner(dataset: Dataset, user: User) -> None:
    if dataset.owner_id != user.pk and not has_role(user, "admin"):
        raise Forbidden(f"{dataset} belongs to {dataset.owner or 'nobody'}. Ask them or an administrator.")


def _batches(ids: Iterator[int]) -> Iterator[list[int]]:
    while some := list(islice(ids, MEMBERS_AT_ONCE)):
        yield some
