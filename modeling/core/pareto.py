"""The time-power Pareto front."""

import numpy as np
from numpy.typing import NDArray

from modeling.core.prediction import FloatArray, IntArray

BoolArray = NDArray[np.bool_]


def pareto_mask(time: FloatArray, power: FloatArray) -> BoolArray:
    """Which of n modes no other mode beats: none is as good in both quantities and better in one.

    time, power: float (n,), any unit, less is better. Modes with equal time and equal power do not beat
    each other, so all of them are on the front. Returns bool (n,). O(n log n): sorted by time, then power,
    a mode is on the front when its power is below the least power of every faster mode.
    """
    time, power = np.asarray(time, dtype=float), np.asarray(power, dtype=float)
    if not (np.isfinite(time).all() and np.isfinite(power).all()):
        raise ValueError("time and power must be finite to compare modes")
    if not len(time):
        return np.zeros(0, dtype=bool)
    order = np.lexsort((power, time))
    fast, lean = time[order], power[order]
    is_new = np.r_[True, (np.diff(fast) != 0) | (np.diff(lean) != 0)]
    distinct = lean[is_new]
    undominated = distinct < np.r_[np.inf, np.minimum.accumulate(distinct)[:-1]]
    mask = np.empty(len(time), dtype=bool)
    mask[order] = undominated[np.cumsum(is_new) - 1]
    return mask


def pareto_front(time: FloatArray, power: FloatArray) -> IntArray:
    """Rows of the front, fastest first."""
    rows = np.flatnonzero(pareto_mask(time, power))
    return rows[np.lexsort((power[rows], time[rows]))]
