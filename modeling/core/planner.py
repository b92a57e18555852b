"""Choose the mode for a budget from what is predicted of every mode."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr, ndtri

from modeling.core.objectives import Objective, costs
from modeling.core.pareto import BoolArray
from modeling.core.prediction import (
    KNOB_COLUMNS,
    WORKLOAD_COLUMNS,
    FloatArray,
    IntArray,
    Prediction,
    has_minibatch,
)

CEILINGS = ("power_mw", "time_ms", "energy_mj", "sample_time_ms", "sample_energy_mj")
AIM = {
    "fastest": "the fastest",
    "leanest": "the one that draws least power",
    "least_energy": "the one that uses least energy",
    "weighted": "the one with the least weighted cost of energy and time",
    "knee": "the knee of the time-power front",
}


@dataclass(frozen=True)
class Budget:
    """Ceilings a mode must keep, and the chance of breaking any of them that one accepts.

    power_mw: mean module power. time_ms: a minibatch (a latency). sample_time_ms: a minibatch's time divided
    by its size (a throughput or an epoch's deadline). energy_mj: a minibatch. sample_energy_mj: a minibatch's
    energy divided by its size (an epoch's battery). None is no ceiling.
    risk: in (0, 1), only used where the predictor states its uncertainty.
    """

    power_mw: float | None = None
    time_ms: float | None = None
    energy_mj: float | None = None
    sample_time_ms: float | None = None
    sample_energy_mj: float | None = None
    risk: float = 0.05

    def __post_init__(self) -> None:
        for name in CEILINGS:
            ceiling = getattr(self, name)
            if ceiling is not None and not (np.isfinite(ceiling) and ceiling > 0):
                raise ValueError(f"{name} {ceiling} is no ceiling: give a positive number")
        if not 0 < self.risk < 1:
            raise ValueError(f"risk {self.risk} is not between 0 and 1")


@dataclass(frozen=True)
class Choice:
    """The mode chosen, and why.

    index: row of the prediction; where nothing fits, the row that comes closest. chance: of keeping all
    ceilings together, at least (the chances to break each are added: right whatever ties their errors).
    nearest_beyond: the row just outside the budget that would be better, or None. misses: per ceiling, by how
    much the closest row's cautious value (exceeded only with the accepted risk, shared out evenly among the
    ceilings) is above it, in the ceiling's unit; empty where the choice fits.
    """

    index: int
    feasible: bool
    chance: float
    reason: str
    nearest_beyond: int | None = None
    misses: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Ceiling:
    """One ceiling against the predicted centre (n,) and log sd (n,) of what it bounds."""

    name: str
    limit: float
    centre: FloatArray
    log_sd: FloatArray | None

    def breaking(self) -> FloatArray:
        """Chance (n,) that a mode exceeds the ceiling; without a log sd 0 or 1."""
        over = np.log(self.centre / self.limit)
        if self.log_sd is None:
            return (over > 0).astype(float)
        certain = self.log_sd == 0
        odds = ndtr(over / np.where(certain, 1.0, self.log_sd))
        return np.where(certain, (over > 0).astype(float), odds)

    def cautious(self, risk: float) -> FloatArray:
        """The value (n,) that is exceeded with chance `risk` only."""
        return self.centre if self.log_sd is None else self.centre * np.exp(ndtri(1 - risk) * self.log_sd)


def choose(
    prediction: Prediction,
    budget: Budget | None = None,
    objective: Objective = "fastest",
    *,
    knobs: IntArray | None = None,
    energy_weight: float = 0.5,
    allowed: Mapping[str, tuple[float | None, float | None]] | None = None,
    per_sample: bool = False,
) -> Choice:
    """The best mode that keeps the budget.

    knobs: int (n, 4 or 5), needed for `allowed` and `per_sample`. allowed: inclusive (low, high) per knob
    name, None for an open end. per_sample: compare time and energy divided by the minibatch size, so that
    batch sizes compete; ceilings keep the unit their name says. energy_weight: see `costs`.
    ValueError where a name or number makes no sense, or `allowed` leaves no mode.
    """
    budget = budget or Budget()
    weighed = _weigh(prediction, budget, objective, knobs, energy_weight, allowed, per_sample)
    rows, choice = weighed.rows, _best(weighed, budget, objective)
    beyond = choice.nearest_beyond
    return replace(
        choice,
        index=int(rows[choice.index]),
        nearest_beyond=None if beyond is None else int(rows[beyond]),
        notes=_notes(prediction, weighed.ceilings),
    )


def ranking(
    prediction: Prediction,
    budget: Budget,
    objective: Objective = "fastest",
    *,
    knobs: IntArray,
    energy_weight: float = 0.5,
    allowed: Mapping[str, tuple[float | None, float | None]] | None = None,
) -> IntArray:
    """Rows of all modes that keep the budget, best first; arguments and errors as of `choose`."""
    weighed = _weigh(prediction, budget, objective, knobs, energy_weight, allowed, False)
    kept = np.flatnonzero(weighed.fits)
    return weighed.rows[kept[np.argsort(weighed.cost[kept], kind="stable")]]


@dataclass(frozen=True)
class _Weighed:
    """The allowed modes: their rows in the prediction, chance to break the budget, and cost, each (k,)."""

    rows: IntArray
    ceilings: list[_Ceiling]
    breaking: FloatArray
    fits: BoolArray
    cost: FloatArray


def _weigh(
    prediction: Prediction,
    budget: Budget,
    objective: Objective,
    knobs: IntArray | None,
    energy_weight: float,
    allowed: Mapping[str, tuple[float | None, float | None]] | None,
    per_sample: bool,
) -> _Weighed:
    rows = np.flatnonzero(_allowed_mask(len(prediction.time_ms), knobs, allowed or {}))
    if not len(rows):
        raise ValueError("no mode lies within the allowed knob ranges: widen one")
    within, knobs = prediction.at(rows), None if knobs is None else knobs[rows]
    samples = _minibatch(knobs) if per_sample else 1.0
    ceilings = _ceilings(within, budget, knobs)
    breaking = np.minimum(sum((c.breaking() for c in ceilings), np.zeros(len(rows))), 1.0)
    fits = breaking <= budget.risk if ceilings else np.ones(len(rows), dtype=bool)
    cost = costs(within, objective, samples=samples, energy_weight=energy_weight, among=fits)
    return _Weighed(rows, ceilings, breaking, fits, cost)


def fastest_within(
    prediction: Prediction,
    power_mw: float | None = None,
    *,
    energy_mj: float | None = None,
    risk: float = 0.05,
) -> Choice:
    """The fastest mode that keeps the power (mW) and energy (mJ a minibatch) ceilings."""
    return choose(prediction, Budget(power_mw=power_mw, energy_mj=energy_mj, risk=risk), "fastest")


def leanest_within(prediction: Prediction, time_ms: float | None = None, *, risk: float = 0.05) -> Choice:
    """The mode of least power that keeps the time ceiling (ms a minibatch)."""
    return choose(prediction, Budget(time_ms=time_ms, risk=risk), "leanest")


def least_energy_within(
    prediction: Prediction,
    time_ms: float | None = None,
    *,
    power_mw: float | None = None,
    risk: float = 0.05,
) -> Choice:
    """The mode of least energy that keeps a deadline (ms a minibatch) and a power ceiling (mW)."""
    return choose(prediction, Budget(time_ms=time_ms, power_mw=power_mw, risk=risk), "least_energy")


def with_measured(
    prediction: Prediction, rows: IntArray, time_ms: FloatArray, power_mw: FloatArray, log_sd: float = 0.0
) -> Prediction:
    """The prediction with measured rows (k,) in their place; log_sd is the measurement's, 0 is exact."""
    time, power = prediction.time_ms.copy(), prediction.power_mw.copy()
    time[rows], power[rows] = time_ms, power_mw
    sds = [None if sd is None else sd.copy() for sd in (prediction.time_log_sd, prediction.power_log_sd)]
    for sd in sds:
        if sd is not None:
            sd[rows] = log_sd
    return Prediction(time, power, sds[0], sds[1], prediction.notes)


def _best(weighed: _Weighed, budget: Budget, objective: Objective) -> Choice:
    """Rows here are those of the allowed modes."""
    cost, fits, ceilings, chance = weighed.cost, weighed.fits, weighed.ceilings, 1 - weighed.breaking
    values = [c.cautious(budget.risk / len(ceilings)) for c in ceilings]
    excess = _excess(ceilings, values, len(cost))
    if not fits.any():
        closest = int(np.argmin(excess))
        over = {c.name: float(v[closest] - c.limit) for c, v in zip(ceilings, values, strict=True)}
        misses = {name: by for name, by in over.items() if by > 0}
        return Choice(closest, False, float(chance[closest]), _no_fit(ceilings, budget), None, misses)
    best = int(np.argmin(np.where(fits, cost, np.inf)))
    better = np.flatnonzero(~fits & (cost < cost[best]))
    beyond = int(better[np.argmin(excess[better])]) if len(better) else None
    return Choice(
        best, True, float(chance[best]), _reason(objective, int(fits.sum()), ceilings, budget), beyond
    )


def _excess(ceilings: list[_Ceiling], values: list[FloatArray], count: int) -> FloatArray:
    """How far each mode is beyond the ceiling it breaks worst, as a log ratio."""
    ratios = [np.log(v / c.limit) for c, v in zip(ceilings, values, strict=True)]
    return np.max(ratios, axis=0) if ratios else np.zeros(count)


def _no_fit(ceilings: list[_Ceiling], budget: Budget) -> str:
    if any(c.log_sd is None for c in ceilings):
        return "No mode is predicted to keep the budget; this one comes closest."
    return (
        f"No mode keeps the budget with a chance of {100 * (1 - budget.risk):.0f} %; this one comes closest."
    )


def _reason(objective: Objective, count: int, ceilings: list[_Ceiling], budget: Budget) -> str:
    if not ceilings:
        return f"Of {count:,} modes, {AIM[objective]}; no ceiling was set."
    kept = "predicted to keep the budget"
    if all(c.log_sd is not None for c in ceilings):
        kept = f"that keep the budget with a chance of at least {100 * (1 - budget.risk):.0f} %"
    return f"Of {count:,} modes {kept}, {AIM[objective]}."


def _ceilings(prediction: Prediction, budget: Budget, knobs: IntArray | None) -> list[_Ceiling]:
    time, sd = prediction.time_ms, prediction.time_log_sd
    found = []
    if budget.power_mw is not None:
        power = prediction.power_mw
        found.append(_Ceiling("power_mw", budget.power_mw, power, prediction.power_log_sd))
    if budget.time_ms is not None:
        found.append(_Ceiling("time_ms", budget.time_ms, time, sd))
    if budget.energy_mj is not None:
        energy = prediction.energy_mj
        found.append(_Ceiling("energy_mj", budget.energy_mj, energy, prediction.energy_log_sd))
    if budget.sample_time_ms is not None:
        found.append(_Ceiling("sample_time_ms", budget.sample_time_ms, time / _minibatch(knobs), sd))
    if budget.sample_energy_mj is not None:
        energy = prediction.energy_mj / _minibatch(knobs)
        limit = budget.sample_energy_mj
        found.append(_Ceiling("sample_energy_mj", limit, energy, prediction.energy_log_sd))
    return found


def _allowed_mask(
    count: int, knobs: IntArray | None, allowed: Mapping[str, tuple[float | None, float | None]]
) -> BoolArray:
    mask = np.ones(count, dtype=bool)
    names = KNOB_COLUMNS + WORKLOAD_COLUMNS
    for name, (low, high) in allowed.items():
        if knobs is None or name not in names[: knobs.shape[1]]:
            raise ValueError(f"{name!r} is no knob of these modes: {', '.join(names)}")
        values = knobs[:, names.index(name)]
        mask &= (values >= (-np.inf if low is None else low)) & (values <= (np.inf if high is None else high))
    return mask


def _minibatch(knobs: IntArray | None) -> FloatArray:
    if knobs is None or not has_minibatch(knobs):
        raise ValueError("time per sample needs the minibatch size as fifth column of knobs")
    return knobs[:, len(KNOB_COLUMNS)].astype(float)


def _notes(prediction: Prediction, ceilings: list[_Ceiling]) -> tuple[str, ...]:
    if any(c.log_sd is None for c in ceilings):
        return (*prediction.notes, "The method states no uncertainty: chances are 0 or 1.")
    return prediction.notes
