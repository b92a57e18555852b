"""Fitting a predictor, in a worker: the only part of the app that needs torch."""

import logging
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from modeling.core import artefact
from modeling.core.crossvalidate import OwnError, cross_validate, with_own_error
from modeling.core.prediction import IntArray, Measured, Prediction
from modeling.core.predictors import predictor_class
from modeling.core.predictors.base import BasePredictor
from modeling.corpora import prepared
from modeling.models import Predictor
from modeling.outlooks import outlook_card
from modeling.selectors.predictors import ranges_of
from modeling.selectors.references import Source, named_references, source
from modeling.services.prediction_sets import predictor_finish
from modeling.services.predictors import (
    NEED_NO_MODE,
    STEPS,
    predictor_claim,
    predictor_fail,
    predictor_progress,
)
from profiling.errors import Conflict, LabError

logger = logging.getLogger(__name__)

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")
# What bad data or too small a machine can raise; a bug is left to the worker's log and the rescue.
FIT_ERRORS = (LabError, ValueError, ArithmeticError, RuntimeError, MemoryError)


@dataclass(frozen=True)
class Fitted:
    """What a finished fit leaves: minibatches are the sizes predicted, one block of all modes each."""

    prediction: Prediction
    minibatches: list[int]
    artefact: bytes
    card: dict[str, Any]
    emulated: bool


def predictor_fit(*, predictor_id: int) -> None:
    predictor = predictor_claim(predictor_id=predictor_id)
    if predictor is None:
        return
    try:
        fitted = train(predictor)
    except FIT_ERRORS as error:
        logger.warning("predictor %s: %s", predictor.pk, error)
        predictor_fail(predictor_id=predictor.pk, reason=str(error) or type(error).__name__)
        return
    predictor_finish(
        predictor=predictor,
        prediction=fitted.prediction,
        minibatches=fitted.minibatches,
        artefact=fitted.artefact,
        card=fitted.card,
        emulated=fitted.emulated,
    )


def train(predictor: Predictor) -> Fitted:
    predictor_progress(predictor=predictor, step=STEPS[0])
    target, references = read(predictor)
    fitter = Fitter(predictor, references)
    predictor_progress(predictor=predictor, step=STEPS[1])
    began = time.perf_counter()
    fitted = fitter.fit(target.measured)
    fit_s = time.perf_counter() - began
    predictor_progress(predictor=predictor, step=STEPS[2])
    own = cross_validate(target.measured, fitter.fit_predict, predictor.seed)
    predictor_progress(predictor=predictor, step=STEPS[3])
    began = time.perf_counter()
    minibatches = np.unique(target.table.minibatch).tolist() or [predictor.workload.minibatch]
    prediction = with_own_error(predict_all(fitted, target, minibatches), own)
    card = {
        **card_of(predictor, target, references, own),
        "minibatches": minibatches,
        "time_level_known": len(target.table) > 0,
        "outlook": outlook_card(fitted, target),
        "notes": list(prediction.notes),
        "misfits": fitted.misfits(),
        "fit_s": round(fit_s, 3),
        "predict_ms": round((time.perf_counter() - began) * 1000, 1),
    }
    emulated = target.table.emulated or any(each.table.emulated for each in references)
    shown = {**card, "held_out": own.held_out if own else None}
    return Fitted(prediction, minibatches, artefact.save(fitted, **card), shown, emulated)


def read(predictor: Predictor) -> tuple[Source, list[Source]]:
    target = source(predictor.workload, predictor.device_model)
    if not len(target.table) and predictor.method not in NEED_NO_MODE:
        raise Conflict(f"The measurements of {target.workload} on {target.device_model} are gone.")
    named = list(predictor.references.order_by("pk"))
    return target, named_references(workloads=named, target=target)


class Fitter:
    """One method with its references, ready to be fitted to all of a table or to parts of it."""

    def __init__(self, predictor: Predictor, references: Sequence[Source]) -> None:
        self.method = predictor_class(predictor.method)
        self.kind = predictor.workload.kind
        self.seed = predictor.seed
        self.corpus = [each.measured for each in references]
        self.prepared = prepared(self.method, references, predictor.device_model, self.seed)

    def fit(self, part: Measured) -> BasePredictor:
        fresh = self.method(self.corpus, self.seed, part.board_maximum, self.prepared, self.kind)
        return fresh.fit(part.knobs, part.time_ms, part.power_mw)

    def fit_predict(self, part: Measured, knobs: IntArray) -> Prediction:
        return self.fit(part).predict(knobs)


def predict_all(fitted: BasePredictor, target: Source, minibatches: Sequence[int]) -> Prediction:
    """Every mode of the board, a block for each minibatch size; block by block, to bound the memory."""
    modes = target.device_model.all_modes()
    if len(minibatches) == 1:
        return fitted.predict(modes)
    sizes = (np.full(len(modes), size) for size in minibatches)
    return joined([fitted.predict(np.column_stack([modes, size])) for size in sizes])


def joined(blocks: Sequence[Prediction]) -> Prediction:
    columns = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in ("time_ms", "power_mw", "time_log_sd", "power_log_sd")
        if getattr(blocks[0], name) is not None
    }
    return Prediction(**columns, notes=blocks[0].notes)


def card_of(
    predictor: Predictor, target: Source, references: Sequence[Source], own: OwnError | None
) -> dict[str, Any]:
    return {
        "method": predictor.method,
        "seed": predictor.seed,
        "rows": len(target.table),
        "digest": target.table.digest,
        "ranges": ranges_of(target.device_model),
        "references": [each.card for each in references],
        "own_error": own.card if own else None,
        "own_error_reason": "" if own else "Fewer than three modes are measured.",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }
