"""In which units a column's values make sense: by the board's legal steps, else by what a Jetson can do."""

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass

import numpy as np

from profiling.formats.checks import BoolArray, FloatArray, nearest_step
from profiling.formats.columns import CLOCKS, Field
from profiling.knobs import KnobRange

# Where none is given: a Jetson module draws 0.3 to 200 W; a minibatch takes 1 ms to 2 minutes.
PLAUSIBLE = {"power_mw": (300.0, 200_000.0), "time_ms": (1.0, 120_000.0), "energy_mj": (0.1, 10_000_000.0)}
CLOCK_KHZ = (20_000.0, 5_000_000.0)
STRAY = 100.0  # times the typical value of its column: no mode does that, a wrong unit does


@dataclass(frozen=True)
class Hints:
    """What is known of the board: legal steps (and another firmware's), plausible (low, high) of a field.

    minibatch: the workload's, where the file names none.
    """

    legal: KnobRange | None = None
    alternative: KnobRange | None = None
    plausible: AnyMapping[str, tuple[float, float]] | None = None
    minibatch: int | None = None

    def steps(self, field: str) -> tuple[int, ...]:
        tables = (getattr(table, field) for table in (self.legal, self.alternative) if table)
        return tuple(sorted({step for table in tables for step in table}))

    def range(self, field: str) -> tuple[float, float] | None:
        return {**PLAUSIBLE, **(self.plausible or {})}.get(field)


def fitting_units(field: Field, values: FloatArray, hints: Hints) -> list[str]:
    """The units in which the values make sense, best first."""
    if field.name in CLOCKS and (steps := hints.steps(field.name)):
        shares = {unit: legal_share(values * factor, steps) for unit, factor in field.units.items()}
        return sorted((unit for unit, share in shares.items() if share >= 0.5), key=lambda u: -shares[u])
    low, high = CLOCK_KHZ if field.name in CLOCKS else hints.range(field.name) or (0.0, np.inf)
    middle = float(np.median(values))
    return [unit for unit, factor in field.units.items() if low <= middle * factor <= high]


def legal_share(values_khz: FloatArray, steps: tuple[int, ...]) -> float:
    """Which share of the distinct values is within 0.1 % or 1 MHz of a legal step."""
    distinct = np.unique(values_khz)
    nearest = nearest_step(distinct, steps)
    return float(np.mean(np.abs(distinct - nearest) <= np.maximum(1e-3 * nearest, 1000.0)))


def is_clock(values: FloatArray, field: Field, unit: str) -> bool:
    """Whether in `unit` the values are clocks that some processor could have."""
    low, high = CLOCK_KHZ
    return bool(low <= float(np.median(values)) * field.factor(unit) <= high)


def strays(values: FloatArray, bounds: tuple[float, float]) -> BoolArray:
    """Values (n,) that are implausible though their column is not: one row in seconds among many in ms."""
    low, high = bounds
    outside = (values < low) | (values > high)
    if not outside.any():
        return outside
    middle = np.nanmedian(values)
    return outside & ((values > STRAY * middle) | (values < middle / STRAY))


def legal_unit(field: Field, values: FloatArray, hints: Hints) -> str | None:
    """The unit in which all values are legal steps of the field, if any."""
    if not len(values):
        return None
    shares = {u: legal_share(values * factor, hints.steps(field.name)) for u, factor in field.units.items()}
    unit = max(shares, key=lambda candidate: shares[candidate])
    return unit if shares[unit] == 1.0 else None
