"""Which modes a sweep measures when no predictor chooses: lists of Knobs out of a board's ranges."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from profiling.knobs import KnobRange, Knobs


def stock_modes(presets: Iterable[dict[str, Any]], ranges: KnobRange) -> list[Knobs]:
    """The stock nvpmodel modes whose values are known, each at the board's nearest legal clocks."""
    stated = ([p["cores"], p["cpu_khz"], p["gpu_khz"], p["mem_khz"]] for p in presets)
    return unique(ranges.nearest(Knobs(*values)) for values in stated if None not in values)


def random_modes(ranges: KnobRange, count: int, seed: int) -> list[Knobs]:
    """`count` different modes, every mode equally likely."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(ranges.mode_count, size=min(count, ranges.mode_count), replace=False)
    return [Knobs(*row) for row in ranges.all_modes()[np.sort(rows)].tolist()]


def powertrain_grid(ranges: KnobRange) -> list[Knobs]:
    """PowerTrain's grid (section 2.5): even core counts, every other CPU clock but the slowest two, all
    GPU and memory clocks; 4,368 modes on AGX Orin."""
    even = tuple(cores for cores in ranges.cores if cores % 2 == 0) or ranges.cores
    cpu = alternate_clocks(ranges.cpu_khz)
    grid = KnobRange(even, cpu, ranges.gpu_khz, ranges.mem_khz)
    return [Knobs(*row) for row in grid.all_modes().tolist()]


def alternate_clocks(clocks: Sequence[int]) -> tuple[int, ...]:
    """Every other clock down from the fastest, without the slowest two."""
    return tuple(sorted(clocks[:1:-1][::2])) or tuple(clocks)


def one_factor_at_a_time(ranges: KnobRange, around: Knobs) -> list[Knobs]:
    """Each knob through all its values while the others stay as in `around`."""
    varied = (
        around._replace(**{name: value})
        for name, values in zip(Knobs._fields, astuple(ranges), strict=True)
        for value in values
    )
    return unique(varied)


def unique(modes: Iterable[Knobs]) -> list[Knobs]:
    return list(dict.fromkeys(modes))


def measuring_order(modes: Iterable[Knobs]) -> list[Knobs]:
    """High to low, grouped by core count: boards lower clocks gladly and switch cores slowly
    (PowerTrain, section 2.5, note 8)."""
    return sorted(modes, reverse=True)


STRATEGIES = {
    "list": "the modes you list",
    "stock": "the stock nvpmodel modes",
    "random": "random modes",
    "grid": "PowerTrain's grid",
    "one_factor": "one knob at a time, from the fastest mode",
    "active": "let the predictor choose",
}


def chosen_modes(
    strategy: str,
    ranges: KnobRange,
    presets: Iterable[dict[str, Any]],
    listed: Sequence[Knobs],
    count: int,
    seed: int,
) -> list[Knobs]:
    """The modes a sweep of `strategy` begins with; `active` starts at the fastest and is extended later."""
    match strategy:
        case "list":
            return unique(listed)
        case "stock":
            return stock_modes(presets, ranges)
        case "random":
            return random_modes(ranges, count, seed)
        case "grid":
            return powertrain_grid(ranges)
        case "one_factor":
            return one_factor_at_a_time(ranges, ranges.maximum)
        case "active":
            return [ranges.maximum]
    raise ValueError(f"strategy {strategy!r} is not one of {', '.join(STRATEGIES)}")
