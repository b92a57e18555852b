"""A predictor's life on the web's side: asked for, claimed by one worker, kept or given up."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from modeling.core.predictors import METHODS
from modeling.models import Predictor
from modeling.selectors.references import Source, default_references, named_references, source
from profiling.errors import Conflict, InvalidInput
from profiling.models import DeviceModel, Workload
from profiling.services.audit import Action, audit
from profiling.silence import silent
from profiling.wake import wake_worker

FIT = "modeling.tasks.fit_predictor"
PREFERRED = ("roofline", "gp", "linear")
NEED_REFERENCE = frozenset({"powertrain", "universal"})
NEED_NO_MODE = frozenset({"roofline"})
STEPS = ("reading measurements", "fitting", "checking itself (cross-validation)", "predicting every mode")
OPEN = (Predictor.State.PENDING, Predictor.State.FITTING)
MAX_ATTEMPTS = 3
SILENCE = timedelta(minutes=15)  # longer than any step takes on the slowest supported machine


def default_method() -> str:
    return next(method for method in PREFERRED if method in METHODS)


@transaction.atomic
def predictor_request(
    *,
    workload: Workload,
    device_model: DeviceModel,
    method: str = "",
    references: Sequence[Workload] | None = None,
    seed: int = 0,
    user: User | None = None,
) -> Predictor:
    """A pending predictor and a message to fit it; the one already waiting if the same was asked before."""
    method = method or default_method()
    if method not in METHODS:
        raise InvalidInput(f"{method!r} is no prediction method. Choose one of {', '.join(METHODS)}.")
    target = source(workload, device_model)
    chosen = _references(target, method, references)
    wanted = {each.workload.pk for each in chosen}
    question = {"workload": workload, "device_model": device_model, "method": method, "seed": seed}
    for waiting in Predictor.objects.filter(**question, state=Predictor.State.PENDING):
        if set(waiting.references.values_list("pk", flat=True)) == wanted:
            return waiting
    predictor = Predictor.objects.create(
        **question, step=STEPS[0], steps_total=len(STEPS), emulated=target.table.emulated, requested_by=user
    )
    predictor.references.set(wanted)
    audit(Action.PREDICTOR_REQUEST, predictor, user=user, method=method)
    wake_worker(FIT, predictor.pk)
    return predictor


def predictor_again(*, predictor: Predictor, user: User | None = None) -> Predictor:
    """The same question put to what is measured by now."""
    return predictor_request(
        workload=predictor.workload,
        device_model=predictor.device_model,
        method=predictor.method,
        references=list(predictor.references.all()) or None,
        seed=predictor.seed,
        user=user,
    )


def _references(target: Source, method: str, named: Sequence[Workload] | None) -> list[Source]:
    if not len(target.table) and method not in NEED_NO_MODE:
        raise Conflict(
            f"Nothing usable is measured of {target.workload} on {target.device_model}. "
            "Upload measurements or run a sweep of a few modes first, or choose "
            f"{' or '.join(sorted(NEED_NO_MODE))}, which predicts power, though no time, without any."
        )
    found = _usual_references(target) if named is None else named_references(workloads=named, target=target)
    if method in NEED_REFERENCE and not found:
        raise Conflict(
            f"{method} transfers from a reference, and there is none. Measure another workload of the same "
            f"kind in 100 or more modes, or choose {default_method()}."
        )
    return found


def _usual_references(target: Source) -> list[Source]:
    """Real ones first while nothing is measured: nobody knows yet whether it will be on a real board."""
    found = default_references(target=target)
    if found or len(target.table):
        return found
    return default_references(target=target, emulated=True)


def predictor_claim(*, predictor_id: int) -> Predictor | None:
    """The predictor, if it was pending; None when another worker has it or had it."""
    claimed = Predictor.objects.filter(pk=predictor_id, state=Predictor.State.PENDING).update(
        state=Predictor.State.FITTING, heartbeat=timezone.now(), attempts=F("attempts") + 1, steps_done=0
    )
    if not claimed:
        return None
    return Predictor.objects.select_related("workload", "device_model").get(pk=predictor_id)


def predictor_progress(*, predictor: Predictor, step: str) -> None:
    done = STEPS.index(step)
    Predictor.objects.filter(pk=predictor.pk, state=Predictor.State.FITTING).update(
        step=step, steps_done=done, heartbeat=timezone.now()
    )


def predictor_fail(*, predictor_id: int, reason: str) -> None:
    Predictor.objects.filter(pk=predictor_id, state__in=OPEN).update(
        state=Predictor.State.FAILED, failure=reason
    )


def predictor_retry(*, predictor: Predictor) -> None:
    retried = Predictor.objects.filter(pk=predictor.pk, state=Predictor.State.FAILED).update(
        state=Predictor.State.PENDING, failure="", attempts=0, steps_done=0, step=STEPS[0]
    )
    if not retried:
        raise Conflict(f"Only a failed predictor can be tried again; this one is {predictor.state}.")
    audit(Action.PREDICTOR_RETRY, predictor)
    wake_worker(FIT, predictor.pk)


def predictors_rescue() -> int:
    """Wake workers for what was forgotten: lost messages, and fits whose worker died. How many."""
    lost = Predictor.objects.filter(silent("heartbeat", SILENCE), state=Predictor.State.FITTING)
    lost.filter(attempts__gte=MAX_ATTEMPTS).update(
        state=Predictor.State.FAILED, failure=f"The worker fell silent {MAX_ATTEMPTS} times while fitting."
    )
    lost.update(state=Predictor.State.PENDING, step=STEPS[0], steps_done=0)
    pending = Predictor.objects.filter(state=Predictor.State.PENDING).values_list("pk", flat=True)
    for predictor_id in pending:
        wake_worker(FIT, predictor_id)
    return len(pending)
