"""Which modes to profile."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from modeling.core.active import choose_next
from modeling.core.prediction import (
    KNOB_COLUMNS,
    FloatArray,
    IntArray,
    Measured,
    Prediction,
    present,
    relative,
)
from modeling.core.roofline.belief import Belief, belief_for
from modeling.core.roofline.corpus import CorpusFit, fit_corpus
from modeling.core.roofline.formula import settings
from modeling.core.roofline.residual import features

# Rows of the modes in, their measured time_ms and power_mw out: a board, or a table in its place.
Measure = Callable[[IntArray], tuple[FloatArray, FloatArray]]
# Measured rows (repeats allowed), their time_ms and power_mw in; what is then believed of all modes out.
Believe = Callable[[IntArray, FloatArray, FloatArray], Prediction]
# knobs of all modes, how many to choose, references, seed, and a way to measure while choosing -> rows.
Strategy = Callable[[IntArray, int, Sequence[Measured], int, Measure], IntArray]

# After so many modes an active sweep fits again before it chooses more.
STEPS = (3, 5, 7, 10, 14, 20, 30, 50, 70, 100)

# cores, CPU, GPU, memory over their maxima (8, 2265, 1377, 2133 MHz) of AGX Xavier, where they were found.
RECOMMENDED = (
    (8 / 8, 2100 / 2265, 900 / 1377, 1600 / 2133),
    (2 / 8, 2100 / 2265, 900 / 1377, 1600 / 2133),
    (8 / 8, 2265 / 2265, 1377 / 1377, 1333 / 2133),
    (8 / 8, 2265 / 2265, 1377 / 1377, 1600 / 2133),
)


def random_modes(knobs: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """`count` different rows of knobs (n, 4 or 5), each as likely (PowerTrain §4: its 10 to 100 modes)."""
    return rng.choice(len(knobs), count, replace=False)


def grid_modes(knobs: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """`count` rows on a coarser grid of evenly spaced values (PowerTrain §2.5), the largest among them.

    Knobs get further values in turn as long as the grid stays within `count`; random rows make up the rest.
    """
    values = [np.unique(column) for column in knobs.T]
    levels = [1] * len(values)
    while True:
        finer = [
            d
            for d, axis in enumerate(values)
            if levels[d] < len(axis) and np.prod(levels) // levels[d] * (levels[d] + 1) <= count
        ]
        if not finer:
            break
        levels[max(finer, key=lambda d: len(values[d]) / levels[d])] += 1
    on_grid = np.ones(len(knobs), dtype=bool)
    for column, axis, level in zip(knobs.T, values, levels, strict=True):
        places = np.linspace(len(axis) - 1, 0, level).round().astype(int)
        on_grid &= np.isin(column, axis[places])
    rows = np.flatnonzero(on_grid)
    others = np.setdiff1d(np.arange(len(knobs)), rows)
    return np.r_[rows, rng.choice(others, count - len(rows), replace=False)].astype(np.int64)


def spread_modes(knobs: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """`count` rows far from each other in the log knobs, from the largest mode on.

    Maximin, greedily (Johnson, Moore, Ylvisaker, J. Stat. Plan. Inference 26, 1990); ties are drawn.
    """
    places = features(settings(knobs, knobs[:, : len(KNOB_COLUMNS)].max(axis=0).astype(float)))
    rows = [int(np.argmax((knobs / present(knobs).max(axis=0)).sum(axis=1)))]
    nearest = np.full(len(knobs), np.inf)
    while len(rows) < count:
        nearest = np.minimum(nearest, ((places - places[rows[-1]]) ** 2).sum(axis=1))
        nearest[rows[-1]] = -1.0
        rows.append(int(rng.choice(np.flatnonzero(nearest >= nearest.max() - 1e-9))))
    return np.array(rows[:count])


def recommended_modes(knobs: IntArray, count: int) -> IntArray:
    """The modes e, f, i, j of "Characterizing training" (§5.7.1, table 3): of each the nearest
    row that is not taken yet.

    ValueError for any other count than four.
    """
    if count != len(RECOMMENDED):
        raise ValueError(f"the recommended modes are {len(RECOMMENDED)}: profile as many, not {count}")
    fractions = relative(knobs)
    rows: list[int] = []
    for wanted in RECOMMENDED:
        distance = np.abs(fractions - np.array(wanted)).sum(axis=1)
        distance[rows] = np.inf
        rows.append(int(distance.argmin()))
    return np.array(rows)


def active_modes(knobs: IntArray, count: int, belief: Belief, seed: int, measure: Measure) -> IntArray:
    """`count` rows of knobs (n, 4 or 5) chosen in steps, each measured and fitted before the next is
    chosen."""
    rows, time, power = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    for step in [*(step for step in STEPS if step < count), count]:
        new = choose_next(belief, knobs, rows, time, power, step - len(rows), seed)
        new_time, new_power = measure(new)
        rows, time, power = np.r_[rows, new], np.r_[time, new_time], np.r_[power, new_power]
    return rows


def _random(knobs: IntArray, count: int, corpus: Sequence[Measured], seed: int, measure: Measure) -> IntArray:
    return random_modes(knobs, count, np.random.default_rng(seed))


def _grid(knobs: IntArray, count: int, corpus: Sequence[Measured], seed: int, measure: Measure) -> IntArray:
    return grid_modes(knobs, count, np.random.default_rng(seed))


def _spread(knobs: IntArray, count: int, corpus: Sequence[Measured], seed: int, measure: Measure) -> IntArray:
    return spread_modes(knobs, count, np.random.default_rng(seed))


def _recommended(
    knobs: IntArray, count: int, corpus: Sequence[Measured], seed: int, measure: Measure
) -> IntArray:
    return recommended_modes(knobs, count)


def _active(knobs: IntArray, count: int, corpus: Sequence[Measured], seed: int, measure: Measure) -> IntArray:
    maximum = knobs[:, : len(KNOB_COLUMNS)].max(axis=0)
    belief = belief_for(_corpus_fit(_Together(corpus)), maximum)
    return active_modes(knobs, count, belief, seed, measure)


class _Together(tuple[Measured, ...]):
    """Measurements compared by identity, since their arrays cannot be hashed."""

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and tuple(map(id, self)) == tuple(map(id, other))


@lru_cache(maxsize=4)
def _corpus_fit(corpus: _Together) -> CorpusFit:
    return fit_corpus(corpus)


STRATEGIES: dict[str, Strategy] = {
    "random": _random,
    "grid": _grid,
    "spread": _spread,
    "active": _active,
    "recommended": _recommended,
}
