"""From a landscape and a question to an answer: the core's choice, dressed with all that people ask next."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from modeling.answers import (
    ANY_MINIBATCH,
    BudgetAnswer,
    Comparison,
    PlanAnswer,
    PlannedMode,
    PlanQuestion,
    Provenance,
    Quantity,
    Shortfall,
)
from modeling.core.objectives import Objective
from modeling.core.planner import CEILINGS, Budget, Choice, choose
from modeling.core.prediction import FloatArray, IntArray, log_interval
from modeling.explaining import explanation
from modeling.selectors.landscape import NO_TIMES, Landscape
from modeling.stock import StockMode, power_model_block, stock_modes
from profiling.errors import InvalidInput
from profiling.knobs import Knobs
from profiling.models import Device

NO_EPOCH = "The workload's samples per epoch are not known. Set them to plan by the epoch."
NO_STOCK = "The catalogue knows no stock mode's clocks."
OF_TIME = ("time_ms", "energy_mj", "epoch_s", "epoch_energy_j")
# The core's ceilings by the names people ask with.
ASKED_AS = {"sample_time_ms": "epoch_s", "sample_energy_mj": "epoch_energy_j"}


def answer_on(land: Landscape, question: PlanQuestion, device: Device | None = None) -> PlanAnswer:
    check_times(land, question)
    rows = question_rows(land, question)
    budget = budget_of(land, question)
    choice = choice_among(land, rows, question, budget)
    mode = planned_mode(land, choice.index, budget)
    stock = best_stock(land, choice.index, question, budget)
    near = choice.nearest_beyond
    beyond = None if near is None else planned_mode(land, near, budget)
    return PlanAnswer(
        workload=land.workload.slug,
        device_model=land.device_model.slug,
        question=question,
        feasible=choice.feasible,
        mode=mode,
        reason=choice.reason,
        time_reason="" if land.time_level_known else NO_TIMES,
        epoch_reason="" if land.workload.samples_per_epoch else NO_EPOCH,
        shortfalls=shortfalls(choice, question, budget),
        nearest_beyond=beyond,
        maxn=comparison(land, choice.index, "MAXN", land.device_model.maximum, budget),
        best_stock=stock,
        stock_reason="" if stock else _no_stock(land),
        notes=list(choice.notes),
        provenance=provenance(land),
        nvpmodel=power_model_block(device_model=land.device_model, knobs=mode.knobs, device=device),
        explanation=explanation(question, mode, choice.reason, beyond) if choice.feasible else [],
    )


def answers_within(land: Landscape, question: PlanQuestion, powers_mw: Sequence[float]) -> list[BudgetAnswer]:
    """The same question under each power budget, its own replaced."""
    check_times(land, question)
    rows, found = question_rows(land, question), []
    for power_mw in powers_mw:
        each = replace(question, power_mw=power_mw)
        budget = budget_of(land, each)
        choice = choice_among(land, rows, each, budget)
        found.append(BudgetAnswer(power_mw, choice.feasible, planned_mode(land, choice.index, budget)))
    return found


def check_times(land: Landscape, question: PlanQuestion) -> None:
    """Limits on times and energies mean nothing while times are relative only."""
    if any(getattr(question, name) is not None for name in OF_TIME):
        land.need_times()


def question_rows(land: Landscape, question: PlanQuestion) -> IntArray:
    if question.minibatch == ANY_MINIBATCH:
        return np.arange(len(land.knobs))
    return land.block(int(question.minibatch or land.default_minibatch()))


def budget_of(land: Landscape, question: PlanQuestion) -> Budget:
    """The core's budget: an epoch's ceilings become those of a sample, exact for one minibatch size."""
    samples = land.workload.samples_per_epoch
    wants_epoch = question.epoch_s is not None or question.epoch_energy_j is not None
    if wants_epoch and not samples:
        raise InvalidInput(NO_EPOCH)
    if samples and question.minibatch != ANY_MINIBATCH:
        size = int(question.minibatch or land.default_minibatch())
        samples = -(-samples // size) * size
    try:
        return Budget(
            power_mw=question.power_mw,
            time_ms=question.time_ms,
            energy_mj=question.energy_mj,
            sample_time_ms=_per_sample(question.epoch_s, samples),
            sample_energy_mj=_per_sample(question.epoch_energy_j, samples),
            risk=question.risk,
        )
    except ValueError as error:
        raise InvalidInput(f"{error}.") from error


def _per_sample(ceiling: float | None, samples: int | None) -> float | None:
    """An epoch's seconds or joules as ms or mJ a sample."""
    return None if ceiling is None or not samples else ceiling * 1000 / samples


def choice_among(land: Landscape, rows: IntArray, question: PlanQuestion, budget: Budget) -> Choice:
    """The core's choice, its rows being those of the landscape."""
    try:
        choice = choose(
            land.prediction.at(rows),
            budget,
            cast(Objective, question.objective),
            knobs=land.knobs[rows],
            energy_weight=question.energy_weight,
            allowed=question.allowed,
            per_sample=question.minibatch == ANY_MINIBATCH,
        )
    except ValueError as error:
        raise InvalidInput(f"{error}.") from error
    beyond = choice.nearest_beyond
    return replace(
        choice, index=int(rows[choice.index]), nearest_beyond=None if beyond is None else int(rows[beyond])
    )


def alone(land: Landscape, row: int, budget: Budget) -> Choice:
    """What the planner says of one mode on its own: whether it fits, and its chance."""
    only = np.array([row])
    return choose(land.prediction.at(only), budget, knobs=land.knobs[only])


def planned_mode(land: Landscape, row: int, budget: Budget) -> PlannedMode:
    *knobs, minibatch = land.knobs[row].tolist()
    p = land.prediction
    time = quantity(p.time_ms, p.time_log_sd, row) if land.time_level_known else None
    energy = quantity(p.energy_mj, p.energy_log_sd, row) if land.time_level_known else None
    samples = land.workload.samples_per_epoch
    minibatches = -(-samples // minibatch) if samples else None
    return PlannedMode(
        rank=row % land.prediction_set.mode_count,
        knobs=Knobs(*knobs),
        minibatch=minibatch,
        measured=bool(land.measured[row]),
        chance=alone(land, row, budget).chance if has_ceiling(budget) else None,
        time_ms=time,
        power_mw=quantity(p.power_mw, p.power_log_sd, row),
        energy_mj=energy,
        epoch_s=scaled(time, minibatches),
        epoch_energy_j=scaled(energy, minibatches),
    )


def quantity(centre: FloatArray, log_sd: FloatArray | None, row: int) -> Quantity:
    if log_sd is None:
        return Quantity(float(centre[row]), None, None)
    low, high = log_interval(centre[row], log_sd[row])
    return Quantity(float(centre[row]), float(low), float(high))


def scaled(each: Quantity | None, minibatches: int | None) -> Quantity | None:
    """Seconds or joules of an epoch from ms or mJ of a minibatch."""
    if each is None or minibatches is None:
        return None
    ends = (None if end is None else end * minibatches / 1000 for end in (each.low, each.high))
    return Quantity(each.value * minibatches / 1000, *ends)


def has_ceiling(budget: Budget) -> bool:
    return any(getattr(budget, name) is not None for name in CEILINGS)


def shortfalls(choice: Choice, question: PlanQuestion, budget: Budget) -> list[Shortfall]:
    found = []
    for name, over in choice.misses.items():
        asked = ASKED_AS.get(name, name)
        limit = getattr(question, asked)
        found.append(Shortfall(asked, limit, limit * (1 + over / getattr(budget, name))))
    return found


def best_stock(land: Landscape, row: int, question: PlanQuestion, budget: Budget) -> Comparison | None:
    """The stock mode that a person would be best off with instead, at the same minibatch size."""
    stock = stock_modes(land.device_model)
    if not stock:
        return None
    rows = np.array([land.row(each.knobs, int(land.knobs[row, -1])) for each in stock])
    choice = choice_among(land, rows, replace(question, allowed={}), budget)
    if not choice.feasible:
        return None
    best = stock[int(np.flatnonzero(rows == choice.index)[0])]
    return comparison(land, row, best.name, best.knobs, budget, _stock_note(best))


def _no_stock(land: Landscape) -> str:
    return "No stock mode keeps the budget." if stock_modes(land.device_model) else NO_STOCK


def _stock_note(stock: StockMode) -> str:
    return "" if stock.exact else "Its clocks are off the kernel's table; the nearest stand for them."


def comparison(
    land: Landscape, row: int, name: str, knobs: Knobs, budget: Budget, note: str = ""
) -> Comparison:
    other = land.row(knobs, int(land.knobs[row, -1]))
    return Comparison(
        name=name,
        mode=planned_mode(land, other, budget),
        fits=alone(land, other, budget).feasible,
        **changes_pct(land, row, other),
        note=note,
    )


def changes_pct(land: Landscape, ours: int, theirs: int) -> dict[str, float]:
    """Of our row against theirs in %; known even while times are relative only."""
    p = land.prediction
    columns = {"time": p.time_ms, "power": p.power_mw, "energy": p.energy_mj}
    return {
        f"{name}_change_pct": float(values[ours] / values[theirs] - 1) * 100
        for name, values in columns.items()
    }


def provenance(land: Landscape) -> Provenance:
    kept, predictor = land.prediction_set, land.prediction_set.predictor
    return Provenance(
        predictor=predictor.pk,
        prediction_set=kept.pk,
        method=predictor.method,
        fitted=predictor.fitted.isoformat() if predictor.fitted else "",
        modes_measured=predictor.card["rows"],
        own_error=predictor.card["own_error"],
        stale=kept.stale,
        stale_reason=kept.stale_reason,
        emulated=land.emulated,
        outlook=predictor.card.get("outlook"),
    )
