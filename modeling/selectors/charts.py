"""Columns for the planner's charts: plain arrays, drawn by the pages."""

from dataclasses import dataclass

from modeling.core.pareto import BoolArray, pareto_front
from modeling.core.prediction import FloatArray, IntArray
from modeling.selectors.landscape import Landscape


@dataclass(frozen=True, eq=False)
class PlanChartData:
    """All modes of a board at one minibatch size; row i is PowerMode.rank i.

    knobs (n, 4); time_ms, power_mw, energy_mj (n,); *_log_sd (n,) or None; measured (n,); front: rows of the
    Pareto front, fastest first.
    """

    minibatch: int
    knobs: IntArray
    time_ms: FloatArray
    power_mw: FloatArray
    energy_mj: FloatArray
    time_log_sd: FloatArray | None
    power_log_sd: FloatArray | None
    measured: BoolArray
    front: IntArray
    emulated: bool


def plan_chart_data(*, land: Landscape, minibatch: int) -> PlanChartData:
    land.need_times()
    rows = land.block(minibatch)
    part = land.prediction.at(rows)
    return PlanChartData(
        minibatch=minibatch,
        knobs=land.knobs[rows, :4],
        time_ms=part.time_ms,
        power_mw=part.power_mw,
        energy_mj=part.energy_mj,
        time_log_sd=part.time_log_sd,
        power_log_sd=part.power_log_sd,
        measured=land.measured[rows],
        front=pareto_front(part.time_ms, part.power_mw),
        emulated=land.emulated,
    )
