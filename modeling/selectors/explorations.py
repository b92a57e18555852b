"""What a curious reader asks of all modes around a plan: maps, curves, parallel lines, the best few."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from modeling.answers import PlanAnswer, PlannedMode
from modeling.core.objectives import Objective
from modeling.core.pareto import pareto_front
from modeling.core.planner import ranking
from modeling.core.prediction import FloatArray, IntArray, log_interval
from modeling.core.slices import (
    line_through,
    plane_of_least,
    plane_through,
    spread_sample,
    swing_pct,
    within_extents,
)
from modeling.planning import alone, budget_of, changes_pct, planned_mode
from modeling.selectors.landscape import Landscape
from profiling.errors import InvalidInput
from profiling.knobs import KNOB_NAMES, Knobs

QUANTITIES = ("time_ms", "power_mw", "energy_mj")
EXTENT_NAMES = KNOB_NAMES + QUANTITIES
LINES = 400


@dataclass(frozen=True, eq=False)
class KnobMap:
    """One quantity over two knobs: values (y, x); `least` and `chosen` are the (x, y) values of those marks,
    `least_mode` all knobs of the least."""

    quantity: str
    across: str
    up: str
    x: list[int]
    y: list[int]
    values: FloatArray
    least: tuple[int, int]
    least_value: float
    least_mode: Knobs
    chosen: tuple[int, int]


@dataclass(frozen=True, eq=False)
class KnobCurve:
    """A quantity along one knob, the others as chosen: (n,) each; ends are None without uncertainty."""

    knob: str
    quantity: str
    x: list[int]
    values: FloatArray
    low: FloatArray | None
    high: FloatArray | None
    measured: IntArray
    chosen: int
    swing_pct: float


@dataclass(frozen=True, eq=False)
class ParallelModes:
    """Modes as lines: knobs (n, 4), the quantities (n,), front (n,) bool; shown of `total` that fit."""

    knobs: IntArray
    columns: dict[str, FloatArray]
    on_front: IntArray
    total: int


@dataclass(frozen=True)
class BestModes:
    """The best few of `total` modes that keep the budget and the extents, in the order of the aim."""

    modes: list[PlannedMode]
    total: int


@dataclass(frozen=True)
class PinnedMode:
    """A mode beside the chosen one: changes in % of the chosen's, negative is less."""

    mode: PlannedMode
    fits: bool
    time_change_pct: float
    power_change_pct: float
    energy_change_pct: float


def knob_map(
    *, land: Landscape, answer: PlanAnswer, quantity: str, across: str, up: str, at_choice: bool
) -> KnobMap:
    """The other two knobs are as chosen, or each cell has the least value that they allow."""
    land.need_times()
    if across == up:
        raise InvalidInput("A map needs two different knobs.")
    x, y = KNOB_NAMES.index(across), KNOB_NAMES.index(up)
    shape, values = _shape(land), _columns(land, answer)[quantity]
    rank = answer.mode.rank
    rows = plane_through(shape, rank, x, y) if at_choice else plane_of_least(values, shape, x, y)
    block = land.knobs[land.block(answer.mode.minibatch), :4]
    least = int(rows.flat[values[rows].argmin()])
    place = [tuple(block[row, [x, y]].tolist()) for row in (least, rank)]
    return KnobMap(
        quantity=quantity,
        across=across,
        up=up,
        x=list(getattr(land.device_model, across)),
        y=list(getattr(land.device_model, up)),
        values=values[rows],
        least=place[0],
        least_value=float(values[least]),
        least_mode=Knobs(*block[least].tolist()),
        chosen=place[1],
    )


def knob_curves(*, land: Landscape, answer: PlanAnswer) -> list[KnobCurve]:
    """Every quantity along every knob through the chosen mode."""
    land.need_times()
    return [_curve(land, answer, knob, quantity) for knob in KNOB_NAMES for quantity in QUANTITIES]


def _curve(land: Landscape, answer: PlanAnswer, knob: str, quantity: str) -> KnobCurve:
    line = line_through(_shape(land), answer.mode.rank, KNOB_NAMES.index(knob))
    rows = land.block(answer.mode.minibatch)[line]
    part = land.prediction.at(rows)
    values = getattr(part, quantity)
    log_sd = getattr(part, quantity.rsplit("_", 1)[0] + "_log_sd")
    low, high = (None, None) if log_sd is None else log_interval(values, log_sd)
    return KnobCurve(
        knob=knob,
        quantity=quantity,
        x=list(getattr(land.device_model, knob)),
        values=values,
        low=low,
        high=high,
        measured=np.flatnonzero(land.measured[rows]),
        chosen=int(np.flatnonzero(line == answer.mode.rank)[0]),
        swing_pct=swing_pct(values),
    )


def parallel_modes(*, land: Landscape, answer: PlanAnswer, lines: int = LINES) -> ParallelModes:
    """The front of the modes that keep the budget, and an even sample of the rest in the aim's order."""
    land.need_times()
    fitting = _fitting(land, answer)
    columns = _columns(land, answer)
    front = fitting[pareto_front(columns["time_ms"][fitting], columns["power_mw"][fitting])]
    rest = spread_sample(fitting[~np.isin(fitting, front)], max(lines - len(front), 0))
    rows = np.concatenate([rest, front])
    return ParallelModes(
        knobs=land.knobs[land.block(answer.mode.minibatch)][rows, :4],
        columns={name: columns[name][rows] for name in QUANTITIES},
        on_front=np.repeat([0, 1], [len(rest), len(front)]),
        total=len(fitting),
    )


def best_modes(
    *,
    land: Landscape,
    answer: PlanAnswer,
    count: int,
    extents: Mapping[str, tuple[float, float]] | None = None,
) -> BestModes:
    """extents: name of EXTENT_NAMES -> least and largest value, in the quantity's unit."""
    if extents:
        land.need_times()
    rows = _fitting(land, answer)
    knobs = land.knobs[land.block(answer.mode.minibatch)]
    columns = {name: knobs[:, place].astype(float) for place, name in enumerate(KNOB_NAMES)} | _columns(
        land, answer
    )
    kept = rows[within_extents({name: each[rows] for name, each in columns.items()}, dict(extents or {}))]
    block, budget = land.block(answer.mode.minibatch), budget_of(land, answer.question)
    modes = [planned_mode(land, int(block[row]), budget) for row in kept[:count]]
    return BestModes(modes, len(kept))


def pinned_modes(*, land: Landscape, answer: PlanAnswer, ranks: list[int]) -> list[PinnedMode]:
    count = land.prediction_set.mode_count
    wrong = [rank for rank in ranks if rank >= count]
    if wrong:
        raise InvalidInput(f"Pinned mode {wrong[0]} does not exist; {land.device_model} has {count:,} modes.")
    block = land.block(answer.mode.minibatch)
    return [_pinned(land, answer, int(block[rank])) for rank in ranks]


def _pinned(land: Landscape, answer: PlanAnswer, row: int) -> PinnedMode:
    budget = budget_of(land, answer.question)
    chosen = land.row(answer.mode.knobs, answer.mode.minibatch)
    return PinnedMode(
        mode=planned_mode(land, row, budget),
        fits=alone(land, row, budget).feasible,
        **changes_pct(land, row, chosen),
    )


def _shape(land: Landscape) -> tuple[int, ...]:
    return tuple(len(getattr(land.device_model, name)) for name in KNOB_NAMES)


def _columns(land: Landscape, answer: PlanAnswer) -> dict[str, FloatArray]:
    part = land.prediction.at(land.block(answer.mode.minibatch))
    return {name: getattr(part, name) for name in QUANTITIES}


def _fitting(land: Landscape, answer: PlanAnswer) -> IntArray:
    """Ranks of the modes that keep the budget, best first."""
    rows, asked = land.block(answer.mode.minibatch), answer.question
    return ranking(
        land.prediction.at(rows),
        budget_of(land, asked),
        cast(Objective, asked.objective),
        knobs=land.knobs[rows],
        energy_weight=asked.energy_weight,
        allowed=asked.allowed,
    )
