from typing import Any

from django.db.models import Count, Max, QuerySet

from profiling.errors import InvalidInput
from profiling.filters import RunApiFilter
from profiling.models import Dataset, DatasetVersion, Run
from profiling.selectors.exports import Export
from profiling.selectors.runs import run_list


def dataset_list() -> QuerySet[Dataset]:
    counts = {"version_count": Count("versions"), "latest": Max("versions__number")}
    return Dataset.objects.select_related("owner").annotate(**counts).order_by("name")


def version_list(dataset: Dataset) -> QuerySet[DatasetVersion]:
    return dataset.versions.select_related("dataset", "author").order_by("-number")


def dataset_runs(dataset: Dataset) -> QuerySet[Run]:
    """The complete runs its filters leave now. InvalidInput for filters that make no sense."""
    chosen = RunApiFilter(dataset.filters, run_list().filter(state=Run.State.COMPLETE))
    faults: dict[str, Any] = {name: ["no such filter"] for name in set(dataset.filters) - set(chosen.filters)}
    if not chosen.is_valid():
        faults |= chosen.errors
    if faults:
        raise InvalidInput(f"The filters of {dataset.name} make no sense; see errors.", errors=faults)
    return chosen.qs


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
        "emulated": _counts(plain.values_list("emulated").annotate(**per)),
        "flag_bits": _counts(plain.values_list("flag_bits").annotate(**per)),
        **export.provenance(),
    }


def _counts(rows: QuerySet[Any, tuple[Any, ...]]) -> dict[str, int]:
    return {str(name): count for name, count in sorted(rows)}
