"""Cuts through all modes of a board, which are a grid: one axis a knob, in the order of KNOB_COLUMNS."""

import numpy as np
from numpy.typing import NDArray

from modeling.core.pareto import BoolArray
from modeling.core.prediction import FloatArray, IntArray


def line_through(shape: tuple[int, ...], mode: int, knob: int) -> IntArray:
    """Rows (shape[knob],) of the modes that differ from row `mode` in one knob at most, ascending in it."""
    places = list(np.unravel_index(mode, shape))
    grid = np.arange(np.prod(shape)).reshape(shape)
    return grid[tuple(slice(None) if axis == knob else place for axis, place in enumerate(places))]


def plane_through(shape: tuple[int, ...], mode: int, across: int, up: int) -> IntArray:
    """Rows (shape[up], shape[across]) of the modes with the other knobs as in row `mode`."""
    places = np.unravel_index(mode, shape)
    grid = np.arange(np.prod(shape)).reshape(shape)
    plane = grid[tuple(slice(None) if axis in (across, up) else place for axis, place in enumerate(places))]
    return plane if up < across else plane.T


def plane_of_least(values: FloatArray, shape: tuple[int, ...], across: int, up: int) -> IntArray:
    """Rows (shape[up], shape[across]) of the modes of least value (n,) over the other knobs."""
    grid = np.moveaxis(values.reshape(shape), (up, across), (0, 1))
    rows = np.moveaxis(np.arange(values.size).reshape(shape), (up, across), (0, 1))
    flat = grid.reshape(*grid.shape[:2], -1)
    least = flat.argmin(axis=2)[..., None]
    found: NDArray[np.int64] = np.take_along_axis(rows.reshape(flat.shape), least, axis=2)[..., 0]
    return found


def swing_pct(values: FloatArray) -> float:
    """How much the largest value is above the least, in %."""
    return float((values.max() / values.min() - 1) * 100)


def spread_sample(order: IntArray, count: int) -> IntArray:
    """At most `count` of the rows, evenly spaced in the order given."""
    if len(order) <= count:
        return order
    return order[np.linspace(0, len(order) - 1, count).round().astype(int)]


def within_extents(columns: dict[str, FloatArray], extents: dict[str, tuple[float, float]]) -> BoolArray:
    """Which rows (n,) lie in every inclusive extent; ValueError for a column that is not there."""
    mask = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for name, (low, high) in extents.items():
        if name not in columns:
            raise ValueError(f"{name!r} is none of {', '.join(columns)}")
        mask &= (columns[name] >= low) & (columns[name] <= high)
    return mask
