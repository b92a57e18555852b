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
    complete, waiting = counts["complete"], counts["pending"] + counts["claimed"]
    remaining = None
    if complete and sweep.started and waiting:
        remaining = (timezone.now() - sweep.started) / complete * waiting
    return Progress(sweep.runs_total, complete, counts["failed"], counts["cancelled"], remaining)


def sweep_run_in_hand(sweep: Sweep) -> Run | None:
    return sweep.runs.filter(state=Run.State.CLAIMED).order_by("-claimed_at").first()
