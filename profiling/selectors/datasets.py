from collections import Counter
from typing import Any

from django.db.models import Count, Max, OuterRef, QuerySet, Subquery

from profiling.flags import flags_in
from profiling.models import Dataset, DatasetVersion, Run
from profiling.run_filters import dataset_runs
from profiling.selectors.exports import Export


def dataset_list() -> QuerySet[Dataset]:
    newest = DatasetVersion.objects.filter(dataset=OuterRef("pk")).order_by("-number")
    counts = {
        "version_count": Count("versions"),
        "latest": Max("versions__number"),
        "latest_runs": Subquery(newest.values("run_count")[:1]),
        "frozen": Max("versions__created"),
    }
    return Dataset.objects.select_related("owner").annotate(**counts).order_by("name")


def version_list(dataset: Dataset) -> QuerySet[DatasetVersion]:
    return dataset.versions.select_related("dataset", "author").order_by("-number")


def dataset_holds(dataset: Dataset) -> list[dict[str, Any]]:
    """What it holds now: runs of each workload on each device model, most first."""
    names = ("workload__name", "device_model__name", "emulated")
    rows = dataset_runs(dataset).select_related(None).defer(None).order_by().values(*names)
    return sorted(rows.annotate(runs=Count("id")), key=lambda row: -row["runs"])


def dataset_card(dataset: Dataset, runs: QuerySet[Run], export: Export) -> dict[str, Any]:
    """What a reader who was not there must know, as it is when the version is frozen."""
    plain = runs.select_related(None).defer(None).order_by()
    per = {"runs": Count("id")}
    return {
        "name": dataset.name,
        "description": dataset.description,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "workloads": _counts(plain.values_list("workload__name").annotate(**per)),
        "device_models": _counts(plain.values_list("device_model__name").annotate(**per)),
        "boards": _counts(plain.filter(device__isnull=False).values_list("device__name").annotate(**per)),
        "emulated_runs": plain.filter(emulated=True).count(),
        "flags": _by_flag(plain.values_list("flag_bits").annotate(**per)),
        **export.provenance(),
        **({"steps": dataset.steps} if dataset.steps else {}),
    }


def _by_flag(rows: QuerySet[Any, tuple[Any, ...]]) -> dict[str, int]:
    """A run with several flags counts under each."""
    counts: Counter[str] = Counter()
    for bits, runs in rows:
        counts.update(dict.fromkeys(flags_in(bits) or ["none"], runs))
    return dict(sorted(counts.items()))


def corrected_since(version: DatasetVersion) -> int:
    """How many of its runs a correction has revised by now."""
    return Run.objects.filter(memberships__version=version, state=Run.State.SUPERSEDED).count()


def _counts(rows: QuerySet[Any, tuple[Any, ...]]) -> dict[str, int]:
    return {str(name): count for name, count in sorted(rows)}
