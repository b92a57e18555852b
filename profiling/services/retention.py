"""Telemetry that grew old: taken away where somebody set a limit, and never unsaid."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone

from profiling.errors import InvalidInput, NotFound
from profiling.models import Dataset, Run, Telemetry
from profiling.run_filters import dataset_runs
from profiling.services.audit import Action, audit

RUNS_AT_ONCE = 500


@dataclass(frozen=True)
class Removed:
    runs: int
    bytes: int


def telemetry_retain(*, days: int, keep: Collection[str] = (), look_only: bool = False) -> Removed:
    """Removes the telemetry of runs stored more than so many days ago; the runs, their numbers and flags stay
    and say so. keep: slugs of datasets whose runs keep theirs, those of their versions and those they hold
    now. look_only: nothing is removed."""
    if days < 1:
        raise InvalidInput(f"Telemetry is kept 1 day or more, not {days}.")
    old = _old(days, keep)
    told = old.aggregate(runs=Count("run", distinct=True), bytes=Sum(Length("parquet")))
    removed = Removed(told["runs"], told["bytes"] or 0)
    if look_only or not removed.runs:
        return removed
    note = f"{timezone.now():%Y-%m-%d}: older than {days} days"
    while some := list(old.order_by().values_list("run", flat=True).distinct()[:RUNS_AT_ONCE]):
        _remove(some, note)
    audit(Action.RETAIN, days=days, kept=", ".join(sorted(keep)), runs=removed.runs, bytes=removed.bytes)
    return removed


def telemetry_retain_as_set() -> Removed | None:
    """By RETAIN_TELEMETRY_DAYS and RETAIN_DATASETS; None where nothing is set."""
    if not settings.RETAIN_TELEMETRY_DAYS:
        return None
    return telemetry_retain(days=settings.RETAIN_TELEMETRY_DAYS, keep=settings.RETAIN_DATASETS)


def _old(days: int, keep: Collection[str]) -> QuerySet[Telemetry]:
    datasets = {dataset.slug: dataset for dataset in Dataset.objects.filter(slug__in=keep)}
    if missing := sorted(set(keep) - datasets.keys()):
        raise NotFound(f"There is no dataset {', '.join(missing)}, so nothing was removed.")
    old = Telemetry.objects.filter(run__created__lt=timezone.now() - timedelta(days=days))
    for dataset in datasets.values():
        held: Any = dataset_runs(dataset).select_related(None).defer(None).order_by().values("pk")
        frozen = Run.everything.filter(memberships__version__dataset=dataset).values("pk")
        old = old.exclude(run__in=held).exclude(run__in=frozen)
    return old


@transaction.atomic
def _remove(run_ids: list[int], note: str) -> None:
    runs = list(Run.everything.filter(pk__in=run_ids).only("provenance"))
    for run in runs:
        run.provenance = {**run.provenance, "telemetry_removed": note}
    Run.everything.bulk_update(runs, ["provenance"])
    Telemetry.objects.filter(run__in=run_ids).delete()
