from collections import Counter
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery

from profiling.errors import InvalidInput
from profiling.filter_fields import Filters
from profiling.filters import RunApiFilter
from profiling.flags import flags_in
from profiling.models import Dataset, DatasetVersion, Run
from profiling.selectors.exports import Export
from profiling.selectors.runs import run_list

ADD, REMOVE = "add", "remove"


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


def dataset_runs(dataset: Dataset) -> QuerySet[Run]:
    """The complete runs its filters leave now, and its steps added or removed in turn. InvalidInput for
    filters that make no sense."""
    complete = run_list().filter(state=Run.State.COMPLETE)
    chosen = _matching(dataset, dataset.filters, complete)
    for step in dataset.steps:
        some = _keys(_matching(dataset, step["filters"], complete))
        if step["take"] == REMOVE:
            chosen = chosen.exclude(pk__in=some)
        else:
            chosen = complete.filter(Q(pk__in=_keys(chosen)) | Q(pk__in=some))
    return chosen


def _matching(dataset: Dataset, filters: Filters, runs: QuerySet[Run]) -> QuerySet[Run]:
    chosen = RunApiFilter(filters, runs)
    faults: dict[str, Any] = {name: ["no such filter"] for name in set(filters) - set(chosen.filters)}
    if not chosen.is_valid():
        faults |= chosen.errors
    if faults:
        raise InvalidInput(f"The filters of {dataset.name} make no sense; see errors.", errors=faults)
    return chosen.qs


def _keys(runs: QuerySet[Run]) -> QuerySet[Run, Any]:
    return runs.select_related(None).defer(None).order_by().values("pk")


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
