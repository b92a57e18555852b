"""Optimisers for a live board: they choose a mode for each interval, see what it costs, and choose again.

"Energy of inference" §6.1 proposes them for energy and time: a full sweep, Thompson sampling, online
gradient descent.
A fourth keeps a power budget: it never knowingly exceeds it. `regret.py` compares all.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from modeling.core.pareto import BoolArray
from modeling.core.prediction import FloatArray, IntArray, NotFitted, Prediction
from modeling.core.sampling import Believe

RISK = 0.05  # the safe optimiser's accepted chance to exceed the budget in a mode not yet tried
# Its margin is 1 + CAUTION / n times wider after n modes: a belief from one or two is overconfident.
CAUTION = 4.0
EXPLORED = 12  # modes it gets to know before it only exploits
REFIT_EVERY = 1.3  # a belief is formed anew whenever the history has grown by this factor
FIRST_STEP = 0.5  # of gradient descent: share of a knob's range, shrinking with the root of the interval


@dataclass(frozen=True)
class Cost:
    """What an interval costs: a weighted sum of relative energy and time of a minibatch
    ("Energy of inference" eq. 6.1).

    energy_weight in [0, 1]; time_ms and energy_mj are what counts as 1, by custom those of the first mode
    tried.
    """

    energy_weight: float
    time_ms: float
    energy_mj: float

    def of(self, time_ms: FloatArray, power_mw: FloatArray) -> FloatArray:
        """Costs (n,) of time_ms (n,) and power_mw (n,)."""
        energy = time_ms * power_mw / 1000
        return (
            self.energy_weight * energy / self.energy_mj + (1 - self.energy_weight) * time_ms / self.time_ms
        )


class Optimiser(Protocol):
    """Chooses the row of the next interval's mode; is told what that mode took."""

    def choose(self) -> int: ...

    def learn(self, row: int, time_ms: float, power_mw: float) -> None: ...


class FullSweep:
    """Every mode once, in the order given, then the cheapest (§6.1.1): sure, and slow."""

    def __init__(self, order: IntArray, cost: Cost) -> None:
        self.order, self.cost = order, cost
        self.costs: dict[int, float] = {}

    def choose(self) -> int:
        if len(self.costs) < len(self.order):
            return int(self.order[len(self.costs)])
        return min(self.costs, key=lambda row: self.costs[row])

    def learn(self, row: int, time_ms: float, power_mw: float) -> None:
        self.costs[row] = float(self.cost.of(np.array(time_ms), np.array(power_mw)))


class _Believing:
    """What optimisers with a predictor share: the history, and a belief formed anew as it grows."""

    def __init__(self, believe: Believe, seed: int = 0) -> None:
        self.believe, self.rng = believe, np.random.default_rng(seed)
        self.rows: list[int] = []
        self.times: list[float] = []
        self.powers: list[float] = []
        self._believed_at = 0
        self._prediction: Prediction | None = None

    def learn(self, row: int, time_ms: float, power_mw: float) -> None:
        if row in self.rows:  # one row a mode: the latest value, so that a slow drift is followed
            place = self.rows.index(row)
            self.times[place], self.powers[place] = time_ms, power_mw
            return
        self.rows.append(row)
        self.times.append(time_ms)
        self.powers.append(power_mw)

    def prediction(self) -> Prediction:
        """The belief about all modes; NotFitted before the first measurement."""
        if not self.rows:
            raise NotFitted("learn at least one mode first")
        if self._prediction is None or len(self.rows) >= self._believed_at * REFIT_EVERY:
            self._prediction = self.believe(*self.history())
            self._believed_at = len(self.rows)
        return self._prediction

    def history(self) -> tuple[IntArray, FloatArray, FloatArray]:
        return np.array(self.rows, dtype=np.int64), np.array(self.times), np.array(self.powers)


class ThompsonSampling(_Believing):
    """Draws a possible truth from the belief and takes its cheapest mode (§6.1.2; Thompson, 1933).

    Modes that were measured count with what was measured, so exploring ends when nothing else may be cheaper.
    knobs (n, 4 or 5): all modes; those that share a knob's value share a part of their drawn error.
    """

    def __init__(self, believe: Believe, knobs: IntArray, first: int, cost: Cost, seed: int = 0) -> None:
        super().__init__(believe, seed)
        self.first, self.cost = first, cost
        self.places = [np.unique(column, return_inverse=True)[1].ravel() for column in knobs.T]

    def choose(self) -> int:
        if not self.rows:
            return self.first
        believed = self.prediction()
        time = believed.time_ms * np.exp(self._draw(believed.time_log_sd))
        power = believed.power_mw * np.exp(self._draw(believed.power_log_sd))
        rows, time[rows], power[rows] = self.history()
        return int(np.argmin(self.cost.of(time, power)))

    def _draw(self, log_sd: FloatArray | None) -> FloatArray | float:
        """Neighbours err alike: a draw for each mode favours outliers, one for all would never explore."""
        if log_sd is None:
            return 0.0
        shares = [self.rng.normal(size=place.max() + 1)[place] for place in self.places]
        return (self.rng.normal() + np.sum(shares, axis=0)) / np.sqrt(1 + len(shares)) * log_sd


class GradientDescent:
    """Steps downhill on the knobs' grid, along the slope that one-knob trials show (§6.1.3).

    Online gradient descent (Zinkevich, ICML 2003) with a finite-difference slope: each round tries a
    neighbour in one knob, and moves by a step that shrinks with the square root of the round. knobs (n, 4
    or 5): all modes.
    """

    def __init__(self, knobs: IntArray, first: int, cost: Cost) -> None:
        self.cost, self.at, self.round = cost, first, 0
        self.axes = [np.unique(column) for column in knobs.T]
        places = [np.searchsorted(axis, column) for axis, column in zip(self.axes, knobs.T, strict=True)]
        self.places = np.column_stack(places)
        self.row_of = {tuple(place): row for row, place in enumerate(self.places)}
        self.costs: dict[int, float] = {}

    def choose(self) -> int:
        return self.at if self.at not in self.costs else self._trial()

    def learn(self, row: int, time_ms: float, power_mw: float) -> None:
        known = self.costs.get(self.at)
        self.costs[row] = float(self.cost.of(np.array(time_ms), np.array(power_mw)))
        if known is not None and row != self.at:
            self._step(row, self.costs[row] < known)

    def _trial(self) -> int:
        """A neighbour in the knob whose turn it is; the place itself where none is left to try."""
        for turn in range(2 * len(self.axes)):
            dimension, side = divmod((self.round + turn) % (2 * len(self.axes)), 2)
            neighbour = self._moved(dimension, -1 if side == 0 else 1)
            if neighbour is not None and neighbour not in self.costs:
                return neighbour
        return min(self.costs, key=lambda row: self.costs[row])

    def _moved(self, dimension: int, steps: int) -> int | None:
        place = self.places[self.at].copy()
        place[dimension] = np.clip(place[dimension] + steps, 0, len(self.axes[dimension]) - 1)
        row = self.row_of.get(tuple(place))
        return None if row == self.at else row

    def _step(self, tried: int, better: bool) -> None:
        """Along the knob just tried if that was cheaper, several grid values at once while rounds are few."""
        self.round += 1
        if not better:
            return
        change = self.places[tried] - self.places[self.at]
        dimension = int(np.flatnonzero(change)[0])
        length = max(1, round(FIRST_STEP * len(self.axes[dimension]) / np.sqrt(self.round) / 2))
        self.at = self._moved(dimension, int(np.sign(change[dimension])) * length) or tried


class SafeDescent(_Believing):
    """The cheapest mode that keeps a power budget, approached from a mode that surely does.

    Only modes are tried whose power keeps the budget with chance 1 - RISK under the present belief, by a
    margin that is wider the fewer modes are known, or that were seen to keep it. Among them the one that
    may be cheapest, by one sd; while that is known already and few modes are, the one whose power is least
    known, so that the safe set grows (SafeOpt: Sui et al., ICML 2015). first: a mode believed to keep the
    budget, by custom the smallest.
    """

    def __init__(
        self,
        believe: Believe,
        first: int,
        cost: Cost,
        budget_mw: float,
        explored: int = EXPLORED,
        seed: int = 0,
    ) -> None:
        super().__init__(believe, seed)
        self.first, self.cost, self.budget_mw, self.explored = first, cost, budget_mw, explored

    def choose(self) -> int:
        if not self.rows:
            return self.first
        believed = self.prediction()
        unknown = np.zeros(len(believed.time_ms))
        time_sd = unknown if believed.time_log_sd is None else believed.time_log_sd
        power_sd = np.array(unknown if believed.power_log_sd is None else believed.power_log_sd)
        margin = ndtri(1 - RISK) * (1 + CAUTION / len(self.rows))
        optimistic = np.array(believed.time_ms * np.exp(-time_sd))
        power = np.array(believed.power_mw)
        cautious = power * np.exp(margin * power_sd)
        rows, optimistic[rows], power[rows] = self.history()
        cautious[rows], power_sd[rows] = power[rows], 0.0
        safe = cautious <= self.budget_mw
        if not safe.any():
            return int(np.argmin(cautious))
        best = int(np.argmin(np.where(safe, self.cost.of(optimistic, power), np.inf)))
        if best in self.rows and len(self.rows) < self.explored:
            more = self._explore(safe, cautious, power, power_sd)
            return best if more is None else more
        return best

    def _explore(
        self, safe: BoolArray, cautious: FloatArray, power: FloatArray, power_sd: FloatArray
    ) -> int | None:
        """The safe mode least known; or, if all are known, the surest other one the plain margin allows."""
        new = np.ones(len(safe), dtype=bool)
        new[self.rows] = False
        if (safe & new).any():
            return int(np.argmax(np.where(safe & new, power_sd, -1.0)))
        surest = int(np.argmin(np.where(new, cautious, np.inf)))
        plain = power[surest] * np.exp(ndtri(1 - RISK) * power_sd[surest])
        return surest if plain <= self.budget_mw else None
