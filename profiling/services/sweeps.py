"""A sweep's life on the server. The database is the truth; a message only wakes an agent."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from profiling.asking import SweepQuestion
from profiling.errors import Conflict, InvalidInput
from profiling.knobs import KnobRange, Knobs
from profiling.models import Device, PowerMode, Run, Sweep, Workload
from profiling.modes import measuring_order, unique
from profiling.services.audit import Action, audit
from profiling.signals import sweep_drained
from profiling.wake import wake_agent

MAX_RUNS = 5000
OPEN = (Sweep.State.PENDING, Sweep.State.RUNNING)
WAITING = (Run.State.PENDING, Run.State.CLAIMED)


def sweep_ask(*, question: SweepQuestion, user: User | None = None) -> Sweep:
    return sweep_request(
        device=question.device,
        workload=question.workload,
        strategy=question.strategy,
        modes=question.first_modes(),
        user=user,
        options=question.options,
    )


@transaction.atomic
def sweep_request(
    *,
    device: Device,
    workload: Workload,
    strategy: str,
    modes: Sequence[Knobs],
    user: User | None = None,
    options: dict[str, Any] | None = None,
) -> Sweep:
    """A new sweep with a pending run for each mode. An `active` sweep may begin with none, and is extended by
    the predictor whenever its runs are used up."""
    if device.retired:
        raise Conflict(f"{device} is retired. Choose another board, or put it back into service.")
    if device.awaits_enrolment:
        raise Conflict(f"{device} has not enrolled yet, so its knobs are not known. Start its agent first.")
    if modes or strategy != "active":
        check_modes(modes, device.ranges)
    sweep = Sweep.objects.create(
        device=device, workload=workload, strategy=strategy, requested_by=user, options=options or {}
    )
    audit(Action.SWEEP_REQUEST, sweep, user=user, device=device, strategy=strategy, modes=len(modes))
    if modes:
        sweep_extend(sweep=sweep, modes=modes)
    else:
        ask_for_modes(sweep)
    return sweep


def ask_for_modes(sweep: Sweep) -> None:
    """Of whoever chooses for it, once everybody can see that it has none waiting."""
    transaction.on_commit(lambda: sweep_settle(sweep_id=sweep.pk), robust=True)


def check_modes(modes: Sequence[Knobs], ranges: KnobRange) -> None:
    if not modes:
        raise InvalidInput("A sweep needs at least one mode.")
    if len(modes) > MAX_RUNS:
        raise InvalidInput(f"A sweep takes at most {MAX_RUNS:,} modes, not {len(modes):,}. Split it up.")
    problems = []
    for place, mode in enumerate(modes, start=1):
        try:
            ranges.rank(mode)
        except ValueError as error:
            problems.append({"mode": place, "reason": f"{error}; nearest legal: {ranges.nearest(mode)}"})
    if problems:
        raise InvalidInput(f"{len(problems)} modes are not legal on this board.", errors=problems)


@transaction.atomic
def sweep_extend(*, sweep: Sweep, modes: Sequence[Knobs]) -> list[Run]:
    """Add pending runs, high to low; modes the sweep already has are left out."""
    known = {run.knobs for run in sweep.runs.all()}
    fresh = [mode for mode in measuring_order(unique(modes)) if mode not in known]
    start = (sweep.runs.aggregate(last=Max("order"))["last"] or 0) + 1
    stored = power_modes_by_knobs(sweep.device, fresh)
    runs = Run.objects.bulk_create(
        Run(
            sweep=sweep,
            order=order,
            workload=sweep.workload,
            device=sweep.device,
            device_model=sweep.device.device_model,
            emulated=sweep.device.emulated,
            state=Run.State.PENDING,
            minibatch=sweep.workload.minibatch,
            power_mode=stored.get(mode),
            **mode._asdict(),
        )
        for order, mode in enumerate(fresh, start=start)
    )
    wake_agent(sweep.device.slug)
    return runs


def power_modes_by_knobs(device: Device, modes: Sequence[Knobs]) -> dict[Knobs, PowerMode]:
    """Stored modes by rank; a clock only this board has is in none of them."""
    ranges, ranks = device.device_model.ranges, []
    for mode in modes:
        try:
            ranks.append(ranges.rank(mode))
        except ValueError:
            continue
    found = PowerMode.objects.filter(device_model=device.device_model, rank__in=ranks)
    return {mode.knobs: mode for mode in found}


@transaction.atomic
def sweep_cancel(*, sweep: Sweep) -> None:
    """Pending runs are cancelled at once; the agent learns at its next heartbeat about the one in hand."""
    if sweep.state not in OPEN:
        raise Conflict(f"The sweep is already {sweep.state}.")
    sweep.runs.filter(state__in=WAITING).update(state=Run.State.CANCELLED)
    Sweep.objects.filter(pk=sweep.pk).update(state=Sweep.State.CANCELLED, finished=timezone.now())
    audit(Action.SWEEP_CANCEL, sweep)


@transaction.atomic
def sweep_resume(*, sweep: Sweep) -> None:
    """Take up what was cancelled or failed; finished runs stay."""
    if sweep.state in OPEN:
        raise Conflict(f"The sweep is still {sweep.state}.")
    unfinished = sweep.runs.filter(state__in=(Run.State.CANCELLED, Run.State.FAILED))
    again = unfinished.update(state=Run.State.PENDING, attempts=0, failure="")
    if not again and sweep.runs.count() >= wanted(sweep):
        raise Conflict("Every run of this sweep is complete. Request a new sweep to measure again.")
    Sweep.objects.filter(pk=sweep.pk).update(state=Sweep.State.PENDING, finished=None, message="")
    audit(Action.SWEEP_RESUME, sweep)
    if again:
        wake_agent(sweep.device.slug)
    else:
        ask_for_modes(sweep)


def wanted(sweep: Sweep) -> int:
    """How many runs an `active` sweep may grow to; other sweeps have all of theirs from the start."""
    return sweep.options.get("count", 0) if sweep.strategy == "active" else 0


def sweep_settle(*, sweep_id: int) -> None:
    """Close a sweep whose runs are all decided, unless a listener says it will extend it (answers True)."""
    if not Run.objects.filter(sweep_id=sweep_id, state__in=WAITING).exists():
        answers = sweep_drained.send(Sweep, sweep_id=sweep_id)
        if not any(answer for _, answer in answers):
            sweep_close(sweep_id=sweep_id)


@transaction.atomic
def sweep_close(*, sweep_id: int, message: str = "") -> None:
    """DONE when anything was measured; a sweep that was extended meanwhile stays open."""
    if Run.objects.filter(sweep_id=sweep_id, state__in=WAITING).exists():
        return
    done = Run.objects.filter(sweep_id=sweep_id, state=Run.State.COMPLETE).exists()
    Sweep.objects.filter(pk=sweep_id, state__in=OPEN).update(
        state=Sweep.State.DONE if done else Sweep.State.FAILED, message=message, finished=timezone.now()
    )


def sweeps_settle() -> None:
    """Settle again what a lost message left open."""
    for pk in (
        Sweep.objects.filter(state__in=OPEN).exclude(runs__state__in=WAITING).values_list("pk", flat=True)
    ):
        sweep_settle(sweep_id=pk)
