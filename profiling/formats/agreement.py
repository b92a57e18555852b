"""Whether what a row says twice agrees: samples per second beside a time, an energy beside time and power.

A rate is taken over a whole run and an energy from samples, so a few per cent apart are nothing odd; clients
that ask at once, or a unit named wrongly, show as a factor. Time and energy stand; the reader is told.
"""

from collections.abc import Mapping as AnyMapping
from typing import NamedTuple

import numpy as np

from profiling.formats.checks import FloatArray
from profiling.formats.columns import FIELDS

APART = 0.05  # of what the others make
FAR = 10.0  # times: no way of measuring explains that
DECIMALS = 4


class Twice(NamedTuple):
    """A field that others make as well: how, and what they make (n,)."""

    field: str
    how: str
    made: FloatArray


def told_twice(columns: AnyMapping[str, FloatArray], minibatch: float | None) -> list[Twice]:
    """columns: field → (n,), NaN unknown. minibatch: the size where the columns have none."""
    time_ms, power_mw = columns.get("time_ms"), columns.get("power_mw")
    sizes = columns.get("minibatch", minibatch)
    found = []
    if time_ms is None:
        return []
    if "throughput_per_s" in columns and sizes is not None:
        how = "minibatch size / time" if "minibatch" in columns else f"a minibatch of {minibatch:.10g} / time"
        found.append(Twice("throughput_per_s", how, 1000 * sizes / time_ms))
    if "energy_mj" in columns and power_mw is not None:
        found.append(Twice("energy_mj", "time × power", time_ms * power_mw / 1000))
    return found


class Apart(NamedTuple):
    """Places where it does not agree, int (m,), and what is said there over what the others make (m,)."""

    places: np.ndarray
    times: FloatArray

    def shown(self) -> str:
        low, high = f"{self.times.min():.3g}", f"{self.times.max():.3g}"
        return f"{low} times that" if low == high else f"{low} to {high} times that"


def apart(said: FloatArray, made: FloatArray) -> Apart:
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(said - made) > APART * made + _rounding(said)
        places = np.flatnonzero(off)
        return Apart(places, said[places] / made[places])


def _rounding(values: FloatArray) -> float:
    """Half of the last decimal that is written, if only few are."""
    known = values[~np.isnan(values)]
    steps = (10.0**-decimals for decimals in range(DECIMALS))
    coarse = (step for step in steps if np.allclose(known / step, np.round(known / step), rtol=0, atol=1e-6))
    return next(coarse, 0.0) / 2


def far_apart(medians: AnyMapping[str, float], minibatch: float | None) -> list[tuple[str, str]]:
    """Of typical values: each field that is said tenfold or a tenth, and the question to ask about it."""
    columns = {name: np.array([value]) for name, value in medians.items()}
    return [
        (twice.field, _question(twice, medians[twice.field], float(twice.made[0])))
        for twice in told_twice(columns, minibatch)
        if not 1 / FAR < medians[twice.field] / float(twice.made[0]) < FAR
    ]


def _question(twice: Twice, said: float, made: float) -> str:
    here, there = (FIELDS[twice.field].told(value) for value in (said, made))
    what = "are their units right, and is it what it is called?"
    return f"is typically {here}, where {twice.how} makes {there}: {what}"
