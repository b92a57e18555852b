"""What a board is doing now, as its last heartbeat told, and what a sweep has been through."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from profiling.models import Device, Run, Sweep

LOGGED = 200
DECIDED = Q(state__in=(Run.State.COMPLETE, Run.State.FAILED, Run.State.CANCELLED)) | ~Q(failure="")


@dataclass(frozen=True)
class Live:
    """The run in hand and the board's last reading; None is not known (yet)."""

    run: Run
    phase: str
    minibatches: int | None
    told: datetime | None
    power_mw: float | None
    cpu_khz: int | None
    gpu_khz: int | None
    mem_khz: int | None
    temperature_c: float | None


@dataclass(frozen=True)
class Event:
    moment: datetime | None
    run: Run
    words: str
    good: bool


def sweep_live(sweep: Sweep) -> Live | None:
    run = sweep.runs.filter(state=Run.State.CLAIMED).order_by("-claimed_at").first()
    if run is None:
        return None
    board = Device.objects.get(pk=sweep.device_id)
    told: dict[str, Any] = board.status if board.status.get("run") == run.pk else {}
    reading: dict[str, Any] = told.get("reading") or {}
    return Live(
        run=run,
        phase=told.get("phase", "beginning"),
        minibatches=told.get("minibatches"),
        told=board.last_seen if told else None,
        power_mw=reading.get("total_mw"),
        cpu_khz=highest(reading.get("cpu_khz")),
        gpu_khz=reading.get("gpu_khz"),
        mem_khz=reading.get("mem_khz"),
        temperature_c=highest((reading.get("temperatures_c") or {}).values()),
    )


def highest(values: Any) -> Any:
    return max((value for value in values or () if value is not None), default=None)


def sweep_log(sweep: Sweep) -> list[Event]:
    """Newest first, what became of the runs; of a long sweep the last ones."""
    told = sweep.runs.filter(DECIDED).order_by("-measured_at", "-heartbeat_at", "-order")[:LOGGED]
    return sorted((event_of(run) for run in told), key=_moment, reverse=True)


def _moment(event: Event) -> float:
    return event.moment.timestamp() if event.moment else 0.0


def event_of(run: Run) -> Event:
    if run.state == Run.State.COMPLETE:
        return Event(run.measured_at, run, f"measured{_flagged(run)}", not run.flags)
    if run.state == Run.State.CANCELLED:
        return Event(run.heartbeat_at, run, "cancelled", False)
    again = "failed" if run.state == Run.State.FAILED else "given back, to be tried again"
    return Event(run.heartbeat_at, run, f"{again} (attempt {run.attempts}): {run.failure}", False)


def _flagged(run: Run) -> str:
    why = run.extra.get("why", {})
    return "".join(f"; {flag}: {why[flag]}" if flag in why else f"; {flag}" for flag in run.flags)
