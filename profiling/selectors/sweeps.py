from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from profiling.models import Run, Sweep

STATES = (Run.State.COMPLETE, Run.State.FAILED, Run.State.CANCELLED, Run.State.PENDING, Run.State.CLAIMED)


@dataclass(frozen=True)
class Progress:
    """How far a sweep is. `remaining` is None until one run is complete: nothing to judge by."""

    total: int
    complete: int
    failed: int
    cancelled: int
    remaining: timedelta | None

    @property
    def decided(self) -> int:
        return self.complete + self.failed + self.cancelled


def sweep_list() -> QuerySet[Sweep]:
    counts = {f"runs_{state}": Count("runs", filter=Q(runs__state=state)) for state in STATES}
    return (
        Sweep.objects.select_related("device", "workload", "requested_by")
        .annotate(runs_total=Count("runs", filter=~Q(runs__state=Run.State.SUPERSEDED)), **counts)
        .order_by("-id")
    )


def sweep_progress(sweep: Any) -> Progress:
    """`sweep` as sweep_list gives it."""
    counts: dict[str, int] = {state: getattr(sweep, f"runs_{state}") for state in STATES}
    under_way = sweep.state in (Sweep.State.PENDING, Sweep.State.RUNNING)
    # One that grows as it goes is as long as was asked, until it stops earlier.
    most = sweep.options.get("count", 0) if sweep.strategy == "active" and under_way else 0
    total, complete = max(sweep.runs_total, most), counts["complete"]
    waiting = total - complete - counts["failed"] - counts["cancelled"]
    remaining = None
    if complete and sweep.started and under_way and waiting:
        remaining = (timezone.now() - sweep.started) / complete * waiting
    return Progress(total, complete, counts["failed"], counts["cancelled"], remaining)


def sweep_points(sweep: Sweep) -> list[tuple[Any, ...]]:
    """What a sweep measured: run, cores, cpu_khz, gpu_khz, mem_khz, time_ms, power_mw, flags."""
    fields = ("pk", "cores", "cpu_khz", "gpu_khz", "mem_khz", "time_ms", "power_mw", "flags")
    known = sweep.runs.filter(state=Run.State.COMPLETE, time_ms__isnull=False, power_mw__isnull=False)
    return list(known.order_by("measured_at").values_list(*fields))
