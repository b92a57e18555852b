"""Predictors to show, and the one to believe."""

from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from modeling.models import PredictionSet, Predictor
from profiling.errors import Conflict, NotFound
from profiling.models import DeviceModel, Workload

BASELINES = ("nearest", "maxn")


def predictor_list() -> QuerySet[Predictor]:
    """For lists and details: without the heavy columns, a fixed number of queries."""
    return (
        Predictor.objects.select_related("workload", "device_model", "requested_by", "prediction_set")
        .prefetch_related("references")
        .defer("artefact", "prediction_set__columns")
    )


def newest_ready() -> QuerySet[Predictor]:
    """Predictors to plan with, of each workload, device model and method the newest only."""
    same = {name: OuterRef(name) for name in ("workload", "device_model", "method")}
    ready = {"state": Predictor.State.READY, "prediction_set__isnull": False}
    newer = Predictor.objects.filter(pk__gt=OuterRef("pk"), **same, **ready)
    return predictor_list().filter(~Exists(newer), **ready)


def newer_fit(predictor: Predictor) -> Predictor | None:
    """The newest later one of the same pair and method that did not fail."""
    same = {name: getattr(predictor, name) for name in ("workload", "device_model", "method")}
    later = Predictor.objects.filter(**same, pk__gt=predictor.pk).exclude(state=Predictor.State.FAILED)
    return later.defer("artefact").order_by("pk").last()


def usual_fit_time(*, method: str) -> timedelta | None:
    """From asking to ready, the median of the last five of the method; None before the first."""
    ready = Predictor.objects.filter(method=method, state=Predictor.State.READY, fitted__isnull=False)
    newest = ready.annotate(took=F("fitted") - F("created")).order_by("-id")[:5]
    took = sorted(newest.values_list("took", flat=True))
    return took[len(took) // 2] if took else None


def set_list() -> QuerySet[PredictionSet]:
    return PredictionSet.objects.select_related("predictor__workload", "predictor__device_model").defer(
        "columns", "predictor__artefact"
    )


def ranges_of(device_model: DeviceModel) -> dict[str, list[int]]:
    """The legal knobs whose order gives a prediction's rows their meaning."""
    return {name: getattr(device_model, name) for name in ("cores", "cpu_khz", "gpu_khz", "mem_khz")}


def believed_set(
    *, workload: Workload, device_model: DeviceModel, predictor_id: int | None = None
) -> PredictionSet:
    """The predictions asked for; else the newest, fresh ones before stale ones and baselines last."""
    known = set_list().filter(predictor__workload=workload, predictor__device_model=device_model)
    if predictor_id is not None:
        found = known.filter(predictor=predictor_id).first()
        if found is None:
            raise NotFound(
                f"Predictor {predictor_id} has no predictions of {workload} on {device_model}. "
                "It may be of another pair, unfinished, or replaced by a newer fit."
            )
    else:
        fresh_first = sorted(known, key=_standing)
        found = fresh_first[0] if fresh_first else None
    if found is None:
        raise Conflict(no_predictor(workload, device_model))
    if found.predictor.card.get("ranges") != ranges_of(device_model):
        raise Conflict(f"The catalogue of {device_model} changed since the fit. Fit a new predictor.")
    return found


def _standing(found: PredictionSet) -> tuple[Any, ...]:
    return (found.stale, found.predictor.method in BASELINES, -found.pk)


def no_predictor(workload: Workload, device_model: DeviceModel) -> str:
    """Why there is nothing to believe yet, and what to do."""
    pair = f"{workload} on {device_model}"
    last = Predictor.objects.filter(workload=workload, device_model=device_model).defer("artefact").first()
    if last is None:
        return f"No predictor is fitted for {pair}. Press Predict, or POST /api/v1/predictors/."
    if last.state == Predictor.State.FAILED:
        return f"Fitting a predictor for {pair} failed: {last.failure} Mend that and try again."
    return f"The predictor for {pair} is not ready yet ({last.step or last.state}). Ask again in a moment."
