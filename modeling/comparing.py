"""How quantities scale, and how two sets of measurements relate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """y = intercept + slope · x by least squares; r2: the coefficient of determination."""

    slope: float
    intercept: float
    r2: float


@dataclass(frozen=True)
class Ratio:
    """b over a, over the n modes both were measured in: median, geometric mean and the 5th and 95th
    percentile of the ratios; r2: squared correlation of the logarithms, None where one never varies."""

    modes: int
    median: float
    mean: float
    low: float
    high: float
    r2: float | None


def line_through(x: FloatArray, y: FloatArray) -> Line | None:
    """x, y (n,). None below three distinct x: two points always lie on a line, which would prove nothing."""
    if len(np.unique(x)) < 3:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    residual = float(np.sum((y - intercept - slope * x) ** 2))
    total = float(np.sum((y - y.mean()) ** 2))
    return Line(float(slope), float(intercept), 1 - residual / total if total else 1.0)


def ratio_of(a: FloatArray, b: FloatArray) -> Ratio | None:
    """a, b (n,): positive, of the same modes in the same order. None without a mode."""
    if not len(a):
        return None
    logs = np.log(b / a)
    low, median, high = np.exp(np.percentile(logs, [5, 50, 95])).tolist()
    both = np.log(a), np.log(b)
    varied = len(a) > 2 and all(np.ptp(each) > 0 for each in both)
    r2 = float(np.corrcoef(*both)[0, 1] ** 2) if varied else None
    return Ratio(len(a), median, float(np.exp(logs.mean())), low, high, r2)
