"""The leaderboard's entries: brought in as `evaluate --json` printed them, or computed here by a worker."""

import hashlib
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from modeling.core.predictors import METHODS
from modeling.core.sampling import STRATEGIES
from modeling.models import Evaluation
from modeling.selectors.references import REFERENCE_MODES, source
from profiling.errors import Conflict, InvalidInput
from profiling.models import DeviceModel, Workload
from profiling.services.audit import Action, audit
from profiling.silence import silent
from profiling.wake import wake_worker

EVALUATE = "modeling.tasks.run_evaluation"
MAX_ATTEMPTS = 3
SILENCE = timedelta(minutes=15)  # longer than one fit of the slowest method takes


@transaction.atomic
def evaluation_import(
    *, title: str, results: list[dict[str, Any]], emulated: bool = False, user: User | None = None
) -> Evaluation:
    """The same results sent again are the same evaluation."""
    digest = hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest()
    known = Evaluation.objects.filter(digest=digest).first()
    if known:
        return known
    evaluation = Evaluation.objects.create(
        title=title,
        results=results,
        digest=digest,
        emulated=emulated,
        state=Evaluation.State.READY,
        requested_by=user,
    )
    audit(Action.EVALUATION_IMPORT, evaluation, user=user)
    return evaluation


@transaction.atomic
def evaluation_request(
    *,
    workload: Workload,
    device_model: DeviceModel,
    methods: Sequence[str],
    counts: Sequence[int] = (10, 50),
    repeats: int = 10,
    sampling: str = "random",
    seed: int = 0,
    verify: bool = False,
    user: User | None = None,
) -> Evaluation:
    """Methods against the pair's own full table: some modes shown, all of them predicted."""
    target = source(workload, device_model)
    if unknown := [name for name in methods if name not in METHODS]:
        raise InvalidInput(f"{', '.join(unknown)}: no such method. Choose of {', '.join(METHODS)}.")
    if sampling not in STRATEGIES:
        raise InvalidInput(f"{sampling!r} is no way of sampling. Choose one of {', '.join(STRATEGIES)}.")
    if len(target.table) < max(REFERENCE_MODES, *counts):
        raise Conflict(
            f"{workload} on {device_model} has {len(target.table)} measured modes; to judge predictions by "
            f"them takes at least {max(REFERENCE_MODES, *counts)}."
        )
    evaluation = Evaluation.objects.create(
        title=f"{workload} on {device_model}",
        workload=workload,
        device_model=device_model,
        emulated=target.table.emulated,
        steps_total=len(methods) * len(counts) * repeats,
        options={
            "methods": list(methods),
            "counts": list(counts),
            "repeats": repeats,
            "sampling": sampling,
            "seed": seed,
            "verify": verify,
        },
        requested_by=user,
    )
    audit(Action.EVALUATION_REQUEST, evaluation, user=user, methods=methods)
    wake_worker(EVALUATE, evaluation.pk)
    return evaluation


def evaluation_claim(*, evaluation_id: int) -> Evaluation | None:
    claimed = Evaluation.objects.filter(pk=evaluation_id, state=Evaluation.State.PENDING).update(
        state=Evaluation.State.RUNNING,
        started=timezone.now(),
        heartbeat=timezone.now(),
        attempts=F("attempts") + 1,
        steps_done=0,
        step="",
    )
    return Evaluation.objects.get(pk=evaluation_id) if claimed else None


def evaluation_progress(*, evaluation: Evaluation, step: str, done: int) -> None:
    _held(evaluation).update(step=step, steps_done=done, heartbeat=timezone.now())


def evaluation_finish(*, evaluation: Evaluation, results: list[dict[str, Any]]) -> None:
    _held(evaluation).update(
        state=Evaluation.State.READY, results=results, step="", steps_done=evaluation.steps_total
    )


def evaluation_fail(*, evaluation: Evaluation, reason: str) -> None:
    _held(evaluation).update(state=Evaluation.State.FAILED, failure=reason)


def _held(evaluation: Evaluation) -> QuerySet[Evaluation]:
    """The row while this worker has it; nothing once it was given to another."""
    return Evaluation.objects.filter(
        pk=evaluation.pk, state=Evaluation.State.RUNNING, attempts=evaluation.attempts
    )


def evaluations_rescue() -> int:
    """Wake workers for what was forgotten: lost messages, and evaluations whose worker died. How many."""
    lost = Evaluation.objects.filter(silent("heartbeat", SILENCE), state=Evaluation.State.RUNNING)
    lost.filter(attempts__gte=MAX_ATTEMPTS).update(
        state=Evaluation.State.FAILED,
        failure=f"The worker fell silent {MAX_ATTEMPTS} times while evaluating.",
    )
    lost.update(state=Evaluation.State.PENDING, step="", steps_done=0)
    pending = Evaluation.objects.filter(state=Evaluation.State.PENDING).values_list("pk", flat=True)
    for pk in pending:
        wake_worker(EVALUATE, pk)
    return len(pending)
