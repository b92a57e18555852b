"""Knobs as numbers that predictors can learn from."""

import numpy as np
from scipy.interpolate import RBFInterpolator, RegularGridInterpolator

from modeling.core.prediction import KNOB_COLUMNS, FloatArray, IntArray, Measured, present, relative

# Spread of the log knobs over a board's grid (cores, CPU, GPU, memory; reference board AGX Orin), and of
# log minibatch over 1..64: features divided by it vary by about one.
LOG_SPREAD = np.array([0.62, 0.62, 0.75, 1.1, 1.5])
# Radial basis functions through all modes up to so many, through the nearest of a larger table.
ALL_AT_ONCE = 1000
NEIGHBOURS = 32


def log_knobs(knobs: IntArray, maximum: FloatArray) -> FloatArray:
    """ln of each knob relative to the board's maximum, scaled to unit spread; float (n, 4 or 5).

    maximum: (4,). Relative clocks make boards comparable. A minibatch column is taken as it is (ln size).
    """
    sizes = present(knobs)[:, len(KNOB_COLUMNS) :]
    fractions = np.column_stack([relative(knobs, maximum), sizes])
    return np.log(fractions) / LOG_SPREAD[: fractions.shape[1]]


class LogSurface:
    """ln time and ln power of one reference workload as a function of the relative knobs.

    Multilinear in the log knobs where the table is a complete grid, radial basis functions through
    the measured modes elsewhere. Exact on measured modes, constant beyond the table's edges. A minibatch
    column of the reference is averaged out where `width` is 4; one the reference lacks is ignored in queries.
    """

    def __init__(self, reference: Measured, width: int = len(KNOB_COLUMNS)) -> None:
        self.maximum = reference.maximum
        self.width = min(width, reference.knobs.shape[1])
        knobs, rows = np.unique(reference.knobs[:, : self.width], axis=0, return_inverse=True)
        values = np.log(np.column_stack([reference.time_ms, reference.power_mw]))
        sums = np.column_stack([np.bincount(rows.ravel(), column) for column in values.T])
        means = sums / np.bincount(rows.ravel())[:, None]
        points = log_knobs(knobs, self.maximum)
        self.low, self.high = points.min(axis=0), points.max(axis=0)
        axes = [np.unique(column) for column in points.T]
        self.varying = [d for d, axis in enumerate(axes) if len(axis) > 1]
        axes = [axes[d] for d in self.varying]
        if axes and np.prod([len(axis) for axis in axes]) == len(points):
            grid = means.reshape(*(len(axis) for axis in axes), 2)
            self._surface = RegularGridInterpolator(axes, grid)
        else:
            neighbours = None if len(points) <= ALL_AT_ONCE else NEIGHBOURS
            self._surface = RBFInterpolator(points, means, neighbours, kernel="linear")
            self.varying = list(range(self.width))

    def __call__(self, knobs: IntArray, maximum: FloatArray) -> FloatArray:
        """ln time_ms and ln power_mw, float (n, 2), for knobs (n, >= 4) of a board with this maximum."""
        points = log_knobs(np.asarray(knobs)[:, : self.width], maximum)
        return self._surface(np.clip(points, self.low, self.high)[:, self.varying])
