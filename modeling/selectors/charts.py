"""Columns for the planner's charts: plain arrays, drawn by the pages."""

from dataclasses import dataclass

import numpy as np

from modeling.core.pareto import BoolArray, pareto_front
from modeling.core.prediction import FloatArray, IntArray
from modeling.selectors.landscape import Landscape, current_table
from modeling.stock import StockMode, stock_modes
from profiling.models import DeviceModel, Workload


@dataclass(frozen=True, eq=False)
class PlanChartData:
    """All modes of a board at one minibatch size; row i is PowerMode.rank i.

    knobs (n, 4); time_ms, power_mw, energy_mj (n,); *_log_sd (n,) or None; measured (n,); front: rows of the
    Pareto front, fastest first; stock: NVIDIA's modes with their rank as row; chosen, beyond: rows or None.
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
    stock: list[StockMode]
    maxn: int
    chosen: int | None
    beyond: int | None
    emulated: bool


def plan_chart_data(
    *, land: Landscape, minibatch: int, chosen: int | None = None, beyond: int | None = None
) -> PlanChartData:
    """`chosen` and `beyond` are ranks, as in PlannedMode."""
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
        stock=stock_modes(land.device_model),
        maxn=land.device_model.ranges.rank(land.device_model.maximum),
        chosen=chosen,
        beyond=beyond,
        emulated=land.emulated,
    )


@dataclass(frozen=True, eq=False)
class MeasuredChartData:
    """What is measured of a pair, before any predictor is ready: knobs (n, 4), the other columns (n,)."""

    knobs: IntArray
    minibatch: IntArray
    time_ms: FloatArray
    power_mw: FloatArray
    energy_mj: FloatArray
    front: IntArray
    emulated: bool


def measured_chart_data(*, workload: Workload, device_model: DeviceModel) -> MeasuredChartData:
    table = current_table(workload=workload, device_model=device_model)
    return MeasuredChartData(
        knobs=table.knobs,
        minibatch=table.minibatch,
        time_ms=table.time_ms,
        power_mw=table.power_mw,
        energy_mj=table.time_ms * table.power_mw / 1000,
        front=pareto_front(table.time_ms, table.power_mw) if len(table) else np.zeros(0, dtype=np.int64),
        emulated=table.emulated,
    )
