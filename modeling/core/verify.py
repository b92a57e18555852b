"""Verified picks: measure the mode chosen, learn from it, choose again."""

from dataclasses import dataclass, replace

import numpy as np

from modeling.core.objectives import Objective
from modeling.core.planner import Budget, choose, with_measured
from modeling.core.prediction import IntArray, Prediction, has_minibatch
from modeling.core.sampling import Believe, Measure

TRIES = 3
# A pick that will be measured may be bolder than one that will be trusted: one sd of margin.
RISK = 0.16


@dataclass(frozen=True)
class VerifiedPick:
    """index: the row chosen, always a measured one. feasible: it kept the budget when measured.

    rows: all rows measured, those of before first. extra: how many of them were measured for this pick.
    """

    index: int
    feasible: bool
    rows: IntArray
    extra: int


def verified_pick(
    believe: Believe,
    knobs: IntArray,
    rows: IntArray,
    measure: Measure,
    budget: Budget,
    objective: Objective = "fastest",
    tries: int = TRIES,
) -> VerifiedPick:
    """The best measured mode within the budget after at most `tries` picks were measured.

    knobs: int (n, 4 or 5), all modes; with minibatch sizes, modes compete by time per sample. rows: those
    measured already; `measure` is asked for them again. Picking the best of thousands of predictions picks
    their errors too (a winner's curse); measuring the pick is the remedy. Where no measured mode keeps the
    budget, the one that comes closest is returned.
    """
    rows = np.asarray(rows, dtype=np.int64)
    time, power = measure(rows)
    before, joint = len(rows), has_minibatch(knobs)
    for _ in range(tries):
        belief = with_measured(believe(rows, time, power), rows, time, power)
        pick = choose(belief, budget, objective, knobs=knobs, per_sample=joint).index
        if pick in rows:
            break
        pick_time, pick_power = measure(np.array([pick]))
        rows, time, power = np.r_[rows, pick], np.r_[time, pick_time], np.r_[power, pick_power]
    best = choose(Prediction(time, power), budget, objective, knobs=knobs[rows], per_sample=joint)
    return VerifiedPick(int(rows[best.index]), best.feasible, rows, len(rows) - before)


def bolder(budget: Budget, risk: float = RISK) -> Budget:
    """The same ceilings at the risk that suits a pick which will be measured."""
    return replace(budget, risk=risk)
