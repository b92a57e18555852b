from collections.abc import Sequence
from typing import Any

from django.db.models import Aggregate, Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from profiling.models import DeviceModel, Run, Workload
from profiling.selectors.fitting import fittings


def workload_list() -> QuerySet[Workload]:
    """Counted by subqueries, which the index of runs answers, and only for the rows that are read."""
    own = Run.objects.filter(workload=OuterRef("pk"), state=Run.State.COMPLETE).order_by()
    there = Run.objects.filter(
        workload=OuterRef(OuterRef("pk")), device_model=OuterRef("pk"), state=Run.State.COMPLETE
    )
    boards = DeviceModel.objects.filter(Exists(there)).order_by().annotate(all=Value(1))
    counts = {
        "run_count": Coalesce(
            _told(own, "workload", Count("*")), 0
        ),  # of the id, the index would be read whole
        "board_count": Coalesce(_told(boards, "all", Count("*")), 0),
        "last_run": _told(own, "workload", Max("created")),
    }
    return Workload.objects.select_related("owner").annotate(**counts).order_by("name")


def workloads_tell(workloads: Sequence[Any]) -> None:
    """Says of each what workload_list does, by one pass over their runs in the order of the index run_browse
    instead of three subqueries each."""
    told: dict[int, list[Any]] = {workload.pk: [0, 0, None] for workload in workloads}
    runs = Run.objects.filter(workload__in=list(told)).order_by()
    for pk, _, state, count, last in runs.values_list("workload", "device_model", "state").annotate(
        count=Count("*"), last=Max("created")
    ):
        if state == Run.State.COMPLETE:
            all_runs, boards, newest = told[pk]
            told[pk] = [all_runs + count, boards + 1, max(filter(None, (newest, last)))]
    for workload in workloads:
        workload.run_count, workload.board_count, workload.last_run = told[workload.pk]


def _told(rows: QuerySet[Any], by: str, value: Aggregate) -> Subquery:
    return Subquery(rows.values(by).annotate(told=value).values("told"))


def workload_boards(workload: Workload) -> list[dict[str, Any]]:
    """What was measured of a workload, a row for each device model, with what fitting takes of it."""
    names = ("device_model", "device_model__slug", "device_model__name")
    runs = Run.objects.filter(workload=workload, state=Run.State.COMPLETE).order_by("device_model__name")
    rows = runs.values(*names).annotate(
        run_count=Count("id"),
        emulated_count=Count("id", filter=Q(emulated=True)),
        last=Max("created"),
    )
    taken = fittings(workload=workload)
    return [{**row, "fitting": taken[row["device_model"]]} for row in rows]
