from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from profiling.models import Run, Workload

COMPLETE = Q(runs__state=Run.State.COMPLETE)


def workload_list() -> QuerySet[Workload]:
    return (
        Workload.objects.select_related("owner")
        .annotate(
            run_count=Count("runs", filter=COMPLETE),
            board_count=Count("runs__device_model", filter=COMPLETE, distinct=True),
            last_run=Max("runs__created", filter=COMPLETE),
        )
        .order_by("name")
    )


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
