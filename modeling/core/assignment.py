"""Which of several workloads to run on which of several boards, one workload a board.

The linear sum assignment problem (Kuhn 1955), and its bottleneck form (Burkard, Dell'Amico, Martello,
Assignment Problems, 2009, ch. 6): the least threshold under which as many workloads find a board as can at
all.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from modeling.core.prediction import FloatArray

AIMS = ("total", "latest")


def assign(costs: FloatArray, aim: str = "total") -> list[int | None]:
    """The board's column for each workload, None for one that finds none.

    costs (workloads, boards): what each costs on each board, positive; infinite where it cannot run there. As
    many workloads as possible are placed. Among those placings "total" has the least sum of costs, "latest"
    the least highest cost and, of those, the least sum. ValueError for another aim, or for NaN or negative
    costs.
    """
    costs = np.asarray(costs, dtype=float)
    if aim not in AIMS:
        raise ValueError(f"aim {aim!r} is neither of {', '.join(AIMS)}")
    if np.isnan(costs).any() or (costs < 0).any():
        raise ValueError("costs must be positive, or infinite where a workload cannot run")
    return _cheapest(costs if aim == "total" else _under_bottleneck(costs))


def _cheapest(costs: FloatArray) -> list[int | None]:
    possible = np.isfinite(costs)
    scale = float(costs[possible].max(initial=0.0)) or 1.0
    # One workload less costs more than any placing of all the others, so none is left out that could run.
    shunned = (1.0 + min(costs.shape)) * scale
    rows, columns = linear_sum_assignment(np.where(possible, costs, shunned))
    placed: list[int | None] = [None] * len(costs)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if possible[row, column]:
            placed[row] = column
    return placed


def _under_bottleneck(costs: FloatArray) -> FloatArray:
    """The costs, infinite above the least threshold that still places as many workloads as possible."""
    levels = np.unique(costs[np.isfinite(costs)])
    most, low, high = _count(costs), 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if _count(np.where(costs <= levels[middle], costs, np.inf)) == most:
            high = middle
        else:
            low = middle + 1
    return costs if not len(levels) else np.where(costs <= levels[low], costs, np.inf)


def _count(costs: FloatArray) -> int:
    return sum(column is not None for column in _cheapest(costs))
