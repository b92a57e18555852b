"""Which modes to profile."""

from collections.abc import Callable, Sequence

import numpy as np

from modeling.core.prediction import FloatArray, IntArray, Measured

# Rows of the modes in, their measured time_ms and power_mw out: a board, or a table in its place.
Measure = Callable[[IntArray], tuple[FloatArray, FloatArray]]
# knobs of all modes, how many to choose, references, seed, and a way to measure while choosing -> rows.
Strategy = Callable[[IntArray, int, Sequence[Measured], int, Measure], IntArray]


def random_modes(knobs: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """`count` different rows of knobs (n, 4 or 5), each as likely (seeds/004 §4: its 10 to 100 modes)."""
    return rng.choice(len(knobs), count, replace=False)


def _random(knobs: IntArray, count: int, corpus: Sequence[Measured], seed: int, measure: Measure) -> IntArray:
    return random_modes(knobs, count, np.random.default_rng(seed))


STRATEGIES: dict[str, Strategy] = {"random": _random}
