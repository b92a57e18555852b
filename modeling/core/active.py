"""Let the predictor choose the next modes to profile, and say what they would cost and bring."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from modeling.core.prediction import FloatArray, IntArray, present
from modeling.core.roofline.belief import Belief
from modeling.core.roofline.design import (
    COST_EXPONENT,
    Uncertainty,
    after_measuring,
    before_measuring,
    greedy,
)
from modeling.core.roofline.workload import FittedWorkload, LogPrediction, fit_workload

CANDIDATES = 250  # drawn modes that may be chosen
TESTS = 150  # drawn modes whose variance is to fall
MINIBATCHES = 40  # measured per mode, PowerTrain §2.5
MEAN_ABSOLUTE = np.sqrt(2 / np.pi)  # mean |error| of a normal error of sd 1
# How fast interest fades with ln time above the front (or the best within the budget), beside the modes'
# own sd.
FRONT_WIDTH = 0.05
WORTHWHILE = 0.05  # a batch should lower the error by at least this share

# Everything, the time-power front, or the neighbourhood of the best mode within a power budget in mW.
Aim = Literal["all", "front"] | float


def choose_next(
    belief: Belief,
    knobs: IntArray,
    rows: IntArray,
    time_ms: FloatArray,
    power_mw: FloatArray,
    count: int,
    seed: int = 0,
    cost_exponent: float = COST_EXPONENT,
    aim: Aim = "all",
) -> IntArray:
    """`count` further rows of knobs (n, 4 or 5) to measure after `rows`, which took time_ms and power_mw.

    Without any measured row the first is the mode of all maxima, and the others rest on the belief alone.
    cost_exponent: 0 ignores profiling time, 1 counts gain per minute. ValueError where fewer modes are left.
    """
    if count > len(knobs) - len(rows):
        raise ValueError(
            f"{count} more modes asked for, but only {len(knobs) - len(rows)} are not measured yet"
        )
    if not count:
        return np.zeros(0, dtype=np.int64)
    rng = np.random.default_rng([seed, len(rows)])
    if len(rows):
        fitted = fit_workload(belief, knobs[rows], time_ms, power_mw, seed)
        interest = interest_in(aim, fitted.predict(knobs)) if aim != "all" else None
        uncertainty, pool = _measured(fitted, knobs, rows, count, rng, interest)
        first = list(range(len(rows)))
    else:
        top = int(np.argmax((knobs / present(knobs).max(axis=0)).sum(axis=1)))
        pool, tests = _draw(knobs, np.array([top]), count, rng, None)
        uncertainty, first = before_measuring(belief, knobs[np.r_[pool, tests]], rng), [0]
        uncertainty.observe(0)
        count -= 1
    chosen = greedy(uncertainty, len(pool), count, first, np.full(TESTS, 1 / TESTS), cost_exponent)
    return pool[chosen] if len(rows) else pool[[0, *chosen]]


def interest_in(aim: Aim, predicted: LogPrediction) -> FloatArray:
    """How much each mode (n,) matters for the aim, between 0 and 1."""
    if aim == "all":
        return np.ones(len(predicted.time))
    if aim == "front":
        order = np.argsort(predicted.power)
        best = np.empty(len(order))
        best[order] = np.minimum.accumulate(predicted.time[order])
        chance = np.ones(len(order))
    else:
        over = (np.log(float(aim) / 1000) - predicted.power) / predicted.power_sd
        chance = 1 / (1 + np.exp(-np.clip(1.7 * over, -50, 50)))  # normal distribution, about
        best = np.full(len(chance), np.min(predicted.time, where=chance > 0.5, initial=predicted.time.max()))
    above = np.maximum(predicted.time - best, 0) / (FRONT_WIDTH + predicted.time_sd)
    return chance * np.exp(-above)


def _draw(
    knobs: IntArray, first: IntArray, count: int, rng: np.random.Generator, interest: FloatArray | None
) -> tuple[IntArray, IntArray]:
    """Rows that may be chosen, `first` before them, and rows to test on, drawn by interest."""
    left = np.setdiff1d(np.arange(len(knobs)), first)
    size = min(max(CANDIDATES, 2 * count), len(left))
    if interest is None:
        return np.r_[first, rng.choice(left, size, replace=False)], rng.integers(len(knobs), size=TESTS)
    # Half of the candidates anywhere: an interesting mode is often best learned from a cheaper one beside it.
    chances = interest[left] / interest[left].sum() / 2 + 0.5 / len(left)
    tests = rng.choice(len(knobs), TESTS, p=interest / interest.sum())
    return np.r_[first, rng.choice(left, size, replace=False, p=chances)], tests


def _measured(
    fitted: FittedWorkload,
    knobs: IntArray,
    rows: IntArray,
    count: int,
    rng: np.random.Generator,
    interest: FloatArray | None,
) -> tuple[Uncertainty, IntArray]:
    pool, tests = _draw(knobs, rows, count, rng, interest)
    uncertainty = after_measuring(fitted, knobs[np.r_[pool, tests]])
    uncertainty.observe(*range(len(rows)))
    return uncertainty, pool


@dataclass(frozen=True)
class Outlook:
    """What `modes` more modes would cost, in minutes of profiling, and bring: mean absolute error now and
    then, in %."""

    modes: int
    minutes: float
    time_error: tuple[float, float]
    power_error: tuple[float, float]

    @property
    def worthwhile(self) -> bool:
        """Whether either error would fall by a share worth measuring for."""
        return any(then < now * (1 - WORTHWHILE) for now, then in (self.time_error, self.power_error))

    def __str__(self) -> str:
        time, power = (f"{now:.1f} → {then:.1f} %" for now, then in (self.time_error, self.power_error))
        minutes = f"{self.minutes:.1f}".removesuffix(".0")
        cost = f"{self.modes} more modes: about {minutes} minute{'s' * (minutes != '1')}"
        return f"{cost}, error in time {time}, in power {power}"


def outlook(
    belief: Belief,
    knobs: IntArray,
    rows: IntArray,
    time_ms: FloatArray,
    power_mw: FloatArray,
    count: int = 10,
    seed: int = 0,
) -> Outlook:
    """What measuring `count` more modes of knobs (n, 4 or 5) promises, after at least one row was
    measured."""
    fitted = fit_workload(belief, knobs[rows], time_ms, power_mw, seed)
    predicted = fitted.predict(knobs)
    uncertainty, pool = _measured(fitted, knobs, rows, count, np.random.default_rng([seed, len(rows)]), None)
    weights = np.full(TESTS, 1 / TESTS)
    before = uncertainty.error(len(pool), weights)
    chosen = greedy(uncertainty, len(pool), count, range(len(rows)), weights)
    after = uncertainty.error(len(pool), weights)
    errors = [
        (now, now * min(then_sd / now_sd, 1.0))
        for now, now_sd, then_sd in zip(
            (100 * MEAN_ABSOLUTE * float(sd.mean()) for sd in (predicted.time_sd, predicted.power_sd)),
            before,
            after,
            strict=True,
        )
    ]
    minutes = float(np.exp(predicted.time[pool[chosen]]).sum() * MINIBATCHES / 60_000)
    return Outlook(count, minutes, *errors)
