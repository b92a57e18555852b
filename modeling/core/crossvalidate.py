"""A predictor's own estimate of its error, from the modes it was given."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from modeling.core.metrics import coverage, mape
from modeling.core.prediction import FloatArray, IntArray, Prediction, Predictor

FOLDS = 5


@dataclass(frozen=True)
class OwnError:
    """time_mape, power_mape: % over all rows, each predicted by a fit that did not see its mode.

    coverage90_*: % of rows inside the 90 % intervals, None where the method states none. prediction: what
    was predicted of each row (n,). folds: how many fits that took. Fits saw fewer modes than the predictor
    itself, so the estimate errs on the high side, the more so the fewer modes there are.
    """

    time_mape: float
    power_mape: float
    coverage90_time: float | None
    coverage90_power: float | None
    folds: int
    prediction: Prediction


def cross_validate(
    make: Callable[[], Predictor],
    knobs: IntArray,
    time_ms: FloatArray,
    power_mw: FloatArray,
    folds: int = FOLDS,
    seed: int = 0,
) -> OwnError | None:
    """Leave each fold of modes out in turn, fit what `make` makes on the rest, predict the fold.

    knobs: int (n, 4 or 5); time_ms, power_mw: float (n,). Rows of one mode stay together, or a repeated
    measurement would be predicted from its twin. None with fewer than two different modes: nothing to
    hold out.
    """
    time_ms, power_mw = np.asarray(time_ms, dtype=float), np.asarray(power_mw, dtype=float)
    fold_of = _folds(knobs, folds, seed)
    count = int(fold_of.max()) + 1
    if count < 2:
        return None
    parts = []
    for fold in range(count):
        seen = fold_of != fold
        fitted = make().fit(knobs[seen], time_ms[seen], power_mw[seen])
        parts.append(fitted.predict(knobs[~seen]))
    order = np.argsort(np.concatenate([np.flatnonzero(fold_of == fold) for fold in range(count)]))
    held_out = _joined(parts, order)
    return OwnError(
        mape(time_ms, held_out.time_ms),
        mape(power_mw, held_out.power_mw),
        coverage(time_ms, held_out.time_ms, held_out.time_log_sd),
        coverage(power_mw, held_out.power_mw, held_out.power_log_sd),
        count,
        held_out,
    )


def _folds(knobs: IntArray, folds: int, seed: int) -> IntArray:
    """Fold of each row (n,), at most as many folds as there are different modes."""
    modes, mode_of = np.unique(knobs, axis=0, return_inverse=True)
    shuffled = np.random.default_rng(seed).permutation(len(modes))
    return (shuffled % min(folds, len(modes)))[mode_of.ravel()]


def _joined(parts: list[Prediction], order: IntArray) -> Prediction:
    def column(name: str) -> FloatArray | None:
        arrays = [getattr(part, name) for part in parts]
        return None if any(array is None for array in arrays) else np.concatenate(arrays)[order]

    time, power = (
        np.concatenate([getattr(p, name) for p in parts])[order] for name in ("time_ms", "power_mw")
    )
    return Prediction(time, power, column("time_log_sd"), column("power_log_sd"))
