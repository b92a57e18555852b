"""A predictor's own estimate of its error, from folds of the measurements it was not shown."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from modeling.core.metrics import coverage, mape
from modeling.core.prediction import FloatArray, IntArray, Measured, Prediction

FOLDS = 5
MIN_ROWS = 3
# A few hundred held-out modes tell the error to a fraction of a percent; more would only cost time.
MAX_ROWS = 300
SMALLEST_LOG_SD = 0.005
LEVELS_PCT = (50, 80, 90, 95)
# More points than this no eye tells apart.
SHOWN_ROWS = 200

FitPredict = Callable[[Measured, IntArray], Prediction]


@dataclass(frozen=True)
class OwnError:
    """rows: modes taken part, each held out once. Errors and coverage of 90 % intervals in %.

    time_log_sd, power_log_sd: root mean square of the held-out errors of ln time and ln power.
    held_out: at most 200 of the rows, in columns: knobs, time_ms, power_mw as measured, and the errors of the
    predictions in %. calibration: "time" and "power" -> level in % -> share inside such intervals in %.
    """

    rows: int
    folds: int
    time_mape: float
    power_mape: float
    coverage90_time: float | None
    coverage90_power: float | None
    time_log_sd: float
    power_log_sd: float
    calibration: dict[str, dict[str, float]] = field(default_factory=dict)
    held_out: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    @property
    def card(self) -> dict[str, Any]:
        """Without the single rows."""
        return {name: value for name, value in asdict(self).items() if name != "held_out"}


def cross_validate(measured: Measured, fit_predict: FitPredict, seed: int) -> OwnError | None:
    """None with fewer than three modes. `fit_predict(part, knobs)` fits on a part and predicts other knobs.

    At most 300 random modes take part, so that for large tables the error is that of a smaller fit: no
    better than the real one's.
    """
    count = len(measured)
    if count < MIN_ROWS:
        return None
    rows = np.random.default_rng(seed).permutation(count)[:MAX_ROWS]
    folds = np.array_split(rows, min(FOLDS, len(rows)))
    parts = [fit_predict(_rows(measured, np.setdiff1d(rows, fold)), measured.knobs[fold]) for fold in folds]
    return _scores(measured, np.concatenate(folds), parts)


def _scores(measured: Measured, rows: IntArray, parts: list[Prediction]) -> OwnError:
    time, power = measured.time_ms[rows], measured.power_mw[rows]
    time_said = np.concatenate([part.time_ms for part in parts])
    power_said = np.concatenate([part.power_mw for part in parts])
    time_sd = _joined([part.time_log_sd for part in parts])
    power_sd = _joined([part.power_log_sd for part in parts])
    time_held, power_held = _held(time, time_said, time_sd), _held(power, power_said, power_sd)
    return OwnError(
        rows=len(rows),
        folds=len(parts),
        time_mape=mape(time, time_said),
        power_mape=mape(power, power_said),
        coverage90_time=time_held.get("90"),
        coverage90_power=power_held.get("90"),
        time_log_sd=_log_rms(time, time_said),
        power_log_sd=_log_rms(power, power_said),
        calibration={"time": time_held, "power": power_held},
        held_out={
            "knobs": measured.knobs[rows][:SHOWN_ROWS].tolist(),
            "time_ms": time[:SHOWN_ROWS].tolist(),
            "power_mw": power[:SHOWN_ROWS].tolist(),
            "time_error_pct": _error_pct(time, time_said)[:SHOWN_ROWS].tolist(),
            "power_error_pct": _error_pct(power, power_said)[:SHOWN_ROWS].tolist(),
        },
    )


def _held(true: FloatArray, said: FloatArray, log_sd: FloatArray | None) -> dict[str, float]:
    """Level in % -> share of true values inside its intervals in %; empty where the method states none."""
    held = {str(level): coverage(true, said, log_sd, level / 100) for level in LEVELS_PCT}
    return {level: share for level, share in held.items() if share is not None}


def _error_pct(true: FloatArray, said: FloatArray) -> FloatArray:
    """Positive where too much was predicted; to a hundredth of a percent."""
    return np.round((said / true - 1) * 100, 2)


def with_own_error(prediction: Prediction, own: OwnError | None) -> Prediction:
    """A method that states no uncertainty is given its own held-out error as standard deviation."""
    if own is None or prediction.time_log_sd is not None:
        return prediction
    count = len(prediction.time_ms)
    note = "This method states no uncertainty; the intervals come from cross-validation, equal for all modes."
    return Prediction(
        prediction.time_ms,
        prediction.power_mw,
        np.full(count, max(own.time_log_sd, SMALLEST_LOG_SD)),
        np.full(count, max(own.power_log_sd, SMALLEST_LOG_SD)),
        (*prediction.notes, note),
    )


def _rows(measured: Measured, rows: IntArray) -> Measured:
    return Measured(
        measured.name,
        measured.knobs[rows],
        measured.time_ms[rows],
        measured.power_mw[rows],
        measured.kind,
        measured.board_maximum,
    )


def _joined(columns: list[FloatArray | None]) -> FloatArray | None:
    known = [column for column in columns if column is not None]
    return np.concatenate(known) if len(known) == len(columns) else None


def _log_rms(true: FloatArray, said: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.log(said / true) ** 2)))
