"""What a set of runs says of itself: how far repeats spread, boards differ, and which runs stand out.

Settings are rows of cores, cpu_khz, gpu_khz, mem_khz, minibatch, -1 where not known, and may end with the
board; values are positive.
Departures are told in %, of logarithms: 100 · (exp(d) - 1). See docs/science.md, "Spread and outliers".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
KNOBS = 4
ROBUST = 1.4826  # the median absolute departure of a normal distribution, as its standard deviation
STANDS_OUT, AT_LEAST, ASIDE = 5.0, float(np.log(1.05)), 0.6


@dataclass(frozen=True)
class Modes:
    """Distinct settings (m, 5), ascending; the median value of each (m,); which one each run is of (n,);
    and how many runs each has (m,)."""

    settings: IntArray
    median: FloatArray
    of_run: IntArray
    count: IntArray


@dataclass(frozen=True)
class Curve:
    """What one knob does while the other settings hold: its steps ascending, and the values there (k,)."""

    knob: int
    steps: IntArray
    median: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Outlier:
    """run: place among the runs. expected: in the unit of the values. rule: "repeats" or "neighbours"."""

    run: int
    expected: float
    departure_pct: float
    rule: str


def percent(logs: FloatArray) -> FloatArray:
    return 100 * np.expm1(logs)


def modes_of(settings: IntArray, values: FloatArray) -> Modes:
    """settings (n, 5), values (n,)."""
    distinct, of_run, count = np.unique(settings, axis=0, return_inverse=True, return_counts=True)
    of_run = of_run.ravel()
    ordered = values[np.lexsort((values, of_run))]
    starts = np.cumsum(count) - count
    median = (ordered[starts + (count - 1) // 2] + ordered[starts + count // 2]) / 2
    return Modes(distinct, median, of_run, count)


def base_mode(modes: Modes) -> int:
    """The mode with most others that differ from it in one knob only; among equals the fastest clocks."""
    score = np.zeros(len(modes.settings), dtype=np.int64)
    for knob in range(KNOBS):
        _, line, count = np.unique(
            np.delete(modes.settings, knob, axis=1), axis=0, return_inverse=True, return_counts=True
        )
        score += count[line.ravel()]
    return int(len(score) - 1 - np.argmax(score[::-1]))


def one_factor(modes: Modes, values: FloatArray, base: int) -> list[Curve]:
    """A curve for each knob of which two or more steps were measured around the base mode."""
    low, high = np.full(len(modes.count), np.inf), np.full(len(modes.count), -np.inf)
    np.minimum.at(low, modes.of_run, values)
    np.maximum.at(high, modes.of_run, values)
    curves = []
    for knob in range(KNOBS):
        others = np.delete(modes.settings, knob, axis=1)
        line = np.flatnonzero((others == others[base]).all(axis=1) & (modes.settings[:, knob] >= 0))
        if len(line) > 1:
            steps = modes.settings[line, knob]
            curves.append(Curve(knob, steps, modes.median[line], low[line], high[line]))
    return curves


def repeat_departures(modes: Modes, values: FloatArray) -> FloatArray:
    """Logarithm of each run over the median of its mode (n,); NaN for a mode measured once."""
    logs = np.log(values / modes.median[modes.of_run])
    return np.where(modes.count[modes.of_run] > 1, logs, np.nan)


def coefficients_of_variation(modes: Modes, values: FloatArray) -> FloatArray:
    """Standard deviation (n - 1) over mean of the runs of a mode, a number for each repeated mode."""
    mean = np.bincount(modes.of_run, values) / modes.count
    squares = np.bincount(modes.of_run, (values - mean[modes.of_run]) ** 2)
    repeated = modes.count > 1
    return np.sqrt(squares[repeated] / (modes.count[repeated] - 1)) / mean[repeated]


def board_departures(settings: IntArray, values: FloatArray, boards: IntArray) -> dict[int, FloatArray]:
    """Board → logarithm of its median over that of all boards' medians, a number for each mode that two or
    more boards measured. boards (n,): 0 where not known, and left out."""
    known = boards > 0
    pairs = modes_of(np.column_stack([settings[known], boards[known]]), values[known])
    shared = modes_of(pairs.settings[:, :-1], pairs.median)
    logs = np.log(pairs.median / shared.median[shared.of_run])
    usable = shared.count[shared.of_run] > 1
    board_of = pairs.settings[:, -1]
    return {int(board): logs[usable & (board_of == board)] for board in np.unique(board_of[usable])}


def neighbour_departures(settings: IntArray, logs: FloatArray) -> FloatArray:
    """How far each mode's logarithm (m,) lies outside its neighbours'; NaN where too few are known.

    Time and power follow each knob one way, so along a knob a mode lies between the next lower and the next
    higher measured step: inside is 0, outside the distance to the nearer end. Of at least two knobs the
    median counts.
    """
    along = np.full((KNOBS, len(logs)), np.nan)
    for knob in range(KNOBS):
        others = np.delete(settings, knob, axis=1)
        order = np.lexsort((settings[:, knob], *others.T[::-1]))
        before, here, after = order[:-2], order[1:-1], order[2:]
        inside = (others[before] == others[here]).all(axis=1) & (others[after] == others[here]).all(axis=1)
        inside &= settings[before, knob] >= 0
        before, here, after = logs[before[inside]], here[inside], logs[after[inside]]
        along[knob, here] = logs[here] - np.clip(
            logs[here], np.minimum(before, after), np.maximum(before, after)
        )
    told = np.isfinite(along).sum(axis=0) > 1
    result = np.full(len(logs), np.nan)
    result[told] = np.nanmedian(along[:, told], axis=0)
    return result


def odd_modes(modes: Modes) -> dict[int, float]:
    """Mode → its departure, for those that stand out. The farthest are set aside and the rest asked again,
    since a wrong mode makes its neighbours look half as wrong."""
    logs, found = np.log(modes.median), dict[int, float]()
    while True:
        departures = neighbour_departures(modes.settings, logs)
        odd = np.flatnonzero(_stands_out(departures))
        if not len(odd):
            return found
        far = odd[np.abs(departures[odd]) > ASIDE * np.abs(departures[odd]).max()]
        found |= dict(zip(far.tolist(), departures[far].tolist(), strict=True))
        logs[far] = np.nan


def outliers(modes: Modes, places: Modes, values: FloatArray, one_way: bool = True) -> list[Outlier]:
    """Runs that depart by more than 5 robust standard deviations, and 5 %, from the other repeats of their
    mode on their board (of three or more) or from the neighbouring modes. Farthest first, each run once.

    places: the modes of each board by itself, since a slower board's runs are no outliers.
    one_way: the quantity follows each knob one way, as time and power do and energy does not.
    """
    found: dict[int, Outlier] = {}
    for mode, departure in odd_modes(modes).items() if one_way else ():
        expected = float(modes.median[mode] / np.exp(departure))
        for run in np.flatnonzero(modes.of_run == mode).tolist():
            found[run] = _outlier(run, values, expected, "neighbours")
    repeats = repeat_departures(places, values)
    repeats[places.count[places.of_run] < 3] = np.nan
    for run in np.flatnonzero(_stands_out(repeats)).tolist():
        found[run] = _outlier(run, values, float(places.median[places.of_run[run]]), "repeats")
    return sorted(found.values(), key=lambda each: -abs(np.log1p(each.departure_pct / 100)))


def _outlier(run: int, values: FloatArray, expected: float, rule: str) -> Outlier:
    return Outlier(run, expected, 100 * (float(values[run]) / expected - 1), rule)


def _stands_out(logs: FloatArray) -> NDArray[np.bool_]:
    known = logs[np.isfinite(logs)]
    if not len(known):
        return np.zeros(len(logs), dtype=bool)
    limit = max(STANDS_OUT * ROBUST * float(np.median(np.abs(known))), AT_LEAST)
    return np.nan_to_num(np.abs(logs)) > limit
