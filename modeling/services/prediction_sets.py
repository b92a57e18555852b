"""Predictions of every mode: kept when a fit ends, marked stale when the data under it change."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from modeling.columns import pack
from modeling.core.prediction import Prediction
from modeling.models import PredictionSet, Predictor
from profiling.models import DeviceModel, Workload
from profiling.selectors.runs import measured_table

CHANGED = "Its measurements changed since the fit."


@transaction.atomic
def predictor_finish(
    *,
    predictor: Predictor,
    prediction: Prediction,
    minibatches: list[int],
    artefact: bytes,
    card: dict[str, Any],
    emulated: bool,
) -> None:
    """READY with its PredictionSet, unless the predictor was given to another worker meanwhile."""
    kept = Predictor.objects.filter(
        pk=predictor.pk, state=Predictor.State.FITTING, attempts=predictor.attempts
    ).update(
        state=Predictor.State.READY,
        steps_done=predictor.steps_total,
        step="",
        artefact=artefact,
        card=card,
        data_digest=card["digest"],
        emulated=emulated,
        fitted=timezone.now(),
    )
    if not kept:
        return
    PredictionSet.objects.create(
        predictor=predictor,
        minibatches=minibatches,
        mode_count=predictor.device_model.mode_count,
        columns=pack(prediction),
    )
    _drop_replaced(predictor)
    # Data that came in during the fit did so unheard: nothing was there yet to be marked.
    prediction_sets_check(workload_id=predictor.workload_id, device_model_id=predictor.device_model_id)


def _drop_replaced(predictor: Predictor) -> None:
    """Older predictions of the same method that no plan refers to; card and artefact are kept."""
    PredictionSet.objects.filter(
        predictor__workload=predictor.workload_id,
        predictor__device_model=predictor.device_model_id,
        predictor__method=predictor.method,
        predictor__lt=predictor.pk,
        plans=None,
    ).delete()


def prediction_sets_check(*, workload_id: int, device_model_id: int) -> None:
    """Stale exactly while the pair's measurements differ from those the predictor was fitted on."""
    own = PredictionSet.objects.filter(
        predictor__workload=workload_id, predictor__device_model=device_model_id
    )
    taught = PredictionSet.objects.filter(predictor__references=workload_id)
    if not own.exists() and not taught.exists():
        return
    workload = Workload.objects.get(pk=workload_id)
    board = DeviceModel.objects.get(pk=device_model_id)
    digest = measured_table(workload=workload, device_model=board).digest
    own.exclude(predictor__data_digest=digest).filter(stale=False).update(stale=True, stale_reason=CHANGED)
    restored = own.filter(predictor__data_digest=digest, stale_reason=CHANGED)
    restored.update(stale=False, stale_reason="")
    for each in (
        taught.filter(stale=False).select_related("predictor").defer("columns", "predictor__artefact")
    ):
        if _learned_otherwise(each.predictor, workload.slug, board.slug, digest):
            reason = f"Measurements of the reference {workload} changed since the fit."
            PredictionSet.objects.filter(pk=each.pk).update(stale=True, stale_reason=reason[:200])


def _learned_otherwise(predictor: Predictor, workload: str, board: str, digest: str) -> bool:
    return any(
        (reference["workload"], reference["device_model"]) == (workload, board)
        and reference["digest"] != digest
        for reference in predictor.card.get("references", ())
    )
