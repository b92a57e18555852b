"""The emulated law: knobs and a workload to time and rail power. Every number it yields is emulated.

It is not any predictor's formula, shares no code with one, and its constants are nobody's to read:
docs/science.md, "The emulated board's law".
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from profiling.board.emulation.demand import EmulatedWorkload, FloatArray, demand_of
from profiling.board.emulation.power import AMBIENT_C, Activity, Parts, draw, resting, working
from profiling.board.emulation.silicon import silicon_of
from profiling.board.emulation.timing import Clocks, Timing, timing
from profiling.knobs import KnobRange
from profiling.soc import knob_range

IntArray = NDArray[np.int64]

TIME_NOISE = 0.008  # relative standard deviation of a mode's mean, from one measurement to the next
POWER_NOISE = 0.012
TIME_QUIRKS = (0.006, 0.006, 0.008, 0.004)  # by knob: each step of each table is a little off the law
POWER_QUIRKS = (0.014, 0.010, 0.010, 0.006)
SETTLING_ROUNDS = 4  # temperature and leakage feed each other; four rounds agree to a milliwatt


@dataclass(frozen=True)
class Outcome:
    """n modes in the steady state: timing, watts by part, die temperature in °C."""

    timing: Timing
    parts: Parts
    degrees: FloatArray


class Law:
    """One board of a device model. `seed` makes it this board and no other of its kind; gpu_share is the
    share of its GPU's units that are on."""

    def __init__(self, entry: Mapping[str, Any], seed: int = 0, gpu_share: float = 1.0) -> None:
        self.ranges = knob_range(entry)
        self.silicon = silicon_of(entry).with_gpu(gpu_share)
        self.top = clocks_of(np.array([self.ranges.maximum]))
        board = [seed, crc32(str(entry.get("slug")).encode())]
        self.time_quirks = _quirks(self.ranges, TIME_QUIRKS, [*board, 0])
        self.power_quirks = _quirks(self.ranges, POWER_QUIRKS, [*board, 1])

    def timing(self, knobs: IntArray, workload: EmulatedWorkload) -> Timing:
        """knobs (n, 4) to times without the noise of any single minibatch."""
        plain = timing(demand_of(workload), self.silicon, clocks_of(knobs))
        factor = _quirk(self.time_quirks, self.ranges, knobs)
        scaled = {"time_ms": plain.time_ms * factor, "stall_ms": plain.stall_ms * factor}
        return Timing(**{f.name: scaled.get(f.name, getattr(plain, f.name)) for f in fields(plain)})

    def parts(self, knobs: IntArray, timed: Timing | None, degrees: FloatArray) -> Parts:
        """Watts at work, or at rest when `timed` is None."""
        clocks = clocks_of(knobs)
        activity: Activity = working(timed) if timed else resting(clocks)
        plain = draw(activity, self.silicon, self.top, clocks, degrees)
        factor = _quirk(self.power_quirks, self.ranges, knobs)
        return Parts(*(part * factor for part in astuple(plain)))

    def outcome(self, knobs: IntArray, workload: EmulatedWorkload) -> Outcome:
        timed = self.timing(knobs, workload)
        degrees = np.full(len(knobs), AMBIENT_C)
        for _ in range(SETTLING_ROUNDS):
            parts = self.parts(knobs, timed, degrees)
            degrees = AMBIENT_C + self.silicon.thermal_c_per_w * parts.total
        return Outcome(timed, parts, degrees)


def clocks_of(knobs: IntArray) -> Clocks:
    cores, cpu, gpu, mem = np.asarray(knobs, dtype=float)[:, :4].T
    return Clocks(cores, cpu / 1e6, gpu / 1e6, mem / 1e6)


def _quirks(ranges: KnobRange, spreads: tuple[float, ...], seed: list[int]) -> list[FloatArray]:
    """A factor near 1 for each step of each knob's table, always the same for the same board."""
    draw_from = np.random.default_rng(seed)
    tables = astuple(ranges)
    return [
        1 + spread * draw_from.standard_normal(len(table))
        for table, spread in zip(tables, spreads, strict=True)
    ]


def _quirk(quirks: list[FloatArray], ranges: KnobRange, knobs: IntArray) -> FloatArray:
    """The product of the four factors of each mode; a value between steps takes the nearest one's."""
    product = np.ones(len(knobs))
    for column, (factors, table) in enumerate(zip(quirks, astuple(ranges), strict=True)):
        steps = np.asarray(table)
        edges = (steps[1:] + steps[:-1]) / 2
        product *= factors[np.searchsorted(edges, knobs[:, column])]
    return product


def emulated_table(
    entry: Mapping[str, Any], workload: EmulatedWorkload, knobs: IntArray, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """What measuring each of n modes once would give: (time_ms (n,), power_mw (n,)), noise included.

    The same law as an EmulatedBoard's of the same seed; equal arguments give equal numbers.
    """
    outcome = Law(entry, seed).outcome(np.asarray(knobs), workload)
    noise = np.random.default_rng([seed, crc32(repr(workload).encode())])
    time_noise, power_noise = noise.standard_normal((2, len(knobs)))
    time_ms = outcome.timing.time_ms * np.exp(TIME_NOISE * time_noise)
    return time_ms, 1000 * outcome.parts.total * np.exp(POWER_NOISE * power_noise)
