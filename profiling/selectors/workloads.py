from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from profiling.models import Run, Workload


def workload_list() -> QuerySet[Workload]:
    """Counted by subqueries, which the index of runs answers, and only for the rows that are read."""
    own = Run.objects.filter(workload=OuterRef("pk"), state=Run.State.COMPLETE).order_by()
    counts = {
        "run_count": _of(own, Count("id")),
        "board_count": _of(own, Count("device_model", distinct=True)),
        "last_run": Subquery(own.values("workload").annotate(told=Max("created")).values("told")),
    }
    return Workload.objects.select_related("owner").annotate(**counts).order_by("name")


def _of(runs: QuerySet[Run], count: Count) -> Coalesce:
    return Coalesce(Subquery(runs.values("workload").annotate(told=count).values("told")), 0)


def workload_boards(workload: Workload) -> list[dict[str, Any]]:
    """What was measured of a workload, a row for each device model."""
    names = ("device_model__slug", "device_model__name")
    runs = Run.objects.filter(workload=workload, state=Run.State.COMPLETE).order_by("device_model__name")
    return list(
        runs.values(*names).annotate(
            run_count=Count("id"),
            emulated_count=Count("id", filter=Q(emulated=True)),
            last=Max("created"),
        )
    )
