"""How good a prediction is, and how good the choices made with it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modeling.core.planner import Budget, choose
from modeling.core.prediction import FloatArray, IntArray, Prediction, has_minibatch, log_interval

BUDGETS_MW = tuple(watt * 1000.0 for watt in range(17, 51))


def mape(true: FloatArray, predicted: FloatArray) -> float:
    """Mean absolute percentage error, %, over all modes given (PowerTrain §4: measured ones included)."""
    return float(np.mean(np.abs(predicted - true) / true) * 100)


def coverage(
    true: FloatArray, centre: FloatArray, log_sd: FloatArray | None, level: float = 0.9
) -> float | None:
    """Share, %, of true values inside the predictor's `level` intervals; None where it states none."""
    if log_sd is None:
        return None
    low, high = log_interval(centre, log_sd, level)
    return float(np.mean((true >= low) & (true <= high)) * 100)


@dataclass(frozen=True)
class BudgetScores:
    """PowerTrain's scores of the modes picked for power budgets (§5.2).

    time_penalty: median excess time, %, over the true optimum; negative where a pick that breaks its budget
    is faster than any mode that keeps it. excess_w: mean power beyond the budget, W a solution ("area").
    over_pct: % of picks above the budget (A/L). over_1w_pct: % above it by more than 1 W (A/L+1).
    budgets: how many budgets were scored.
    """

    time_penalty: float
    excess_w: float
    over_pct: float
    over_1w_pct: float
    budgets: int


def budget_picks(
    prediction: Prediction,
    knobs: IntArray,
    risk: float = 0.05,
    budgets_mw: Sequence[float] = BUDGETS_MW,
) -> IntArray:
    """The row picked for each budget: the fastest that keeps it at this risk.

    knobs: int (n, 4), or (n, 5): then minibatch sizes compete by time per sample.
    Where a predictor states no uncertainty its point values decide, as in PowerTrain §5. Where it believes
    that no mode fits, it still has to answer: the mode it takes to draw least counts as its pick.
    """
    budgets = [Budget(power_mw=limit, risk=risk) for limit in budgets_mw]
    joint = has_minibatch(knobs)
    return np.array([choose(prediction, each, knobs=knobs, per_sample=joint).index for each in budgets])


def budget_scores(
    time_ms: FloatArray, power_mw: FloatArray, picks: IntArray, budgets_mw: Sequence[float] = BUDGETS_MW
) -> BudgetScores | None:
    """Scores of one picked row per budget against the true time and power (n,) of all modes.

    A budget that no mode truly keeps has no optimum and is left out; None where that is all of them.
    """
    optimum = np.array([np.min(time_ms, where=power_mw <= limit, initial=np.inf) for limit in budgets_mw])
    scored = np.isfinite(optimum)
    if not scored.any():
        return None
    chosen = np.asarray(picks)[scored]
    over_mw = np.maximum(power_mw[chosen] - np.asarray(budgets_mw)[scored], 0)
    return BudgetScores(
        time_penalty=float(np.median(time_ms[chosen] / optimum[scored] - 1) * 100),
        excess_w=float(over_mw.mean() / 1000),
        over_pct=float(np.mean(over_mw > 0) * 100),
        over_1w_pct=float(np.mean(over_mw > 1000) * 100),
        budgets=int(scored.sum()),
    )
