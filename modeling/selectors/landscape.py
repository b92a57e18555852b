"""Every mode of a board as it is believed now: predicted, with measurements in their place."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modeling.columns import ALWAYS, WHERE_KNOWN, prediction_of
from modeling.core.pareto import BoolArray
from modeling.core.planner import with_measured
from modeling.core.prediction import KNOB_COLUMNS, WORKLOAD_COLUMNS, IntArray, Prediction
from modeling.models import PredictionSet, Predictor
from modeling.selectors.predictors import believed_set
from profiling.errors import Conflict, InvalidInput
from profiling.knobs import KnobRange, Knobs
from profiling.models import DeviceModel, Run, Workload
from profiling.selectors.runs import MeasuredTable, measured_table

# Training times of one board stay within about 1 % over 150 epochs on AGX (Characterizing training, 5.4.1).
MEASURED_LOG_SD = 0.01
NO_TIMES = "No mode was measured when this was fitted, so no time is known yet. One measured mode will do."


@dataclass(frozen=True, eq=False)
class Landscape:
    """Rows are blocks of all modes, one block a minibatch size; arrays are shared, never write to them.

    knobs (n, 5) with the minibatch last. measured (n,): which rows are measurements. While time_level_known
    is False, times are relative to each other only, and measurements are not put among them.
    """

    prediction_set: PredictionSet
    workload: Workload
    device_model: DeviceModel
    knobs: IntArray
    prediction: Prediction
    measured: BoolArray
    emulated: bool
    time_level_known: bool = True

    @property
    def minibatches(self) -> list[int]:
        return self.prediction_set.minibatches

    def default_minibatch(self) -> int:
        """The workload's own, or the nearest size that was measured."""
        return min(self.minibatches, key=lambda size: abs(size - self.workload.minibatch))

    def block(self, minibatch: int) -> IntArray:
        """Rows of one minibatch size."""
        if minibatch not in self.minibatches:
            sizes = ", ".join(map(str, self.minibatches))
            raise InvalidInput(f"Minibatch {minibatch} is not predicted; measured sizes: {sizes}.")
        count = self.prediction_set.mode_count
        return np.arange(count) + self.minibatches.index(minibatch) * count

    def row(self, knobs: Knobs, minibatch: int) -> int:
        return int(self.block(minibatch)[self.device_model.ranges.rank(knobs)])

    def need_times(self) -> None:
        if not self.time_level_known:
            raise Conflict(NO_TIMES)


class DataState(NamedTuple):
    """Equal while no run of the pair came or went; complete runs never change."""

    workload_id: int
    device_model_id: int
    runs: int
    newest: tuple[int, datetime] | None


def landscape(*, workload: Workload, device_model: DeviceModel, predictor_id: int | None = None) -> Landscape:
    found = believed_set(workload=workload, device_model=device_model, predictor_id=predictor_id)
    state, minibatches = data_state(workload, device_model), tuple(found.minibatches)
    knobs = _knobs(device_model.ranges, minibatches)
    emulated = found.predictor.emulated or table_at(state).emulated
    if not time_level_known(found.predictor):
        prediction, measured = prediction_of(found.pk, found.created), np.zeros(len(knobs), dtype=bool)
        return Landscape(found, workload, device_model, knobs, prediction, measured, emulated, False)
    prediction, measured = _believed(found.pk, found.created, device_model.ranges, minibatches, state)
    return Landscape(found, workload, device_model, knobs, prediction, measured, emulated)


def time_level_known(predictor: Predictor) -> bool:
    """Cards of older fits do not say: those had measurements."""
    return predictor.card.get("time_level_known", True)


def current_table(*, workload: Workload, device_model: DeviceModel) -> MeasuredTable:
    """`measured_table`, read once a process until a run comes or goes."""
    return table_at(data_state(workload, device_model))


def data_state(workload: Workload, device_model: DeviceModel) -> DataState:
    runs = Run.objects.filter(workload=workload, device_model=device_model, state=Run.State.COMPLETE)
    newest = runs.order_by("-id").values_list("id", "created").first()
    return DataState(workload.pk, device_model.pk, runs.count(), newest)


@lru_cache(maxsize=16)
def table_at(state: DataState) -> MeasuredTable:
    return measured_table(
        workload=Workload.objects.get(pk=state.workload_id),
        device_model=DeviceModel.objects.get(pk=state.device_model_id),
    )


@lru_cache(maxsize=16)
def _knobs(ranges: KnobRange, minibatches: tuple[int, ...]) -> IntArray:
    modes = ranges.all_modes()
    sizes = np.repeat(np.array(minibatches, dtype=np.int64), len(modes))
    return np.column_stack([np.tile(modes, (len(minibatches), 1)), sizes])


@lru_cache(maxsize=16)
def _believed(
    set_id: int, created: datetime, ranges: KnobRange, minibatches: tuple[int, ...], state: DataState
) -> tuple[Prediction, BoolArray]:
    prediction, table = prediction_of(set_id, created), table_at(state)
    rows, source = rows_of(table, ranges, minibatches)
    measured = np.zeros(len(prediction.time_ms), dtype=bool)
    measured[rows] = True
    times, powers = table.time_ms[source], table.power_mw[source]
    return with_measured(prediction, rows, times, powers, MEASURED_LOG_SD), measured


def rows_of(
    table: MeasuredTable, ranges: KnobRange, minibatches: tuple[int, ...]
) -> tuple[IntArray, IntArray]:
    """Rows of the landscape that were measured, and the table's row of each; a mode that is not legal
    by the catalogue, or of a size not predicted, has none."""
    ranks = ranges.ranks(table.knobs)
    blocks = np.array([minibatches.index(b) if b in minibatches else -1 for b in table.minibatch.tolist()])
    source = np.flatnonzero((ranks >= 0) & (blocks >= 0)) if len(table) else np.zeros(0, dtype=np.int64)
    if not len(source):
        return source, source
    return blocks[source] * ranges.mode_count + ranks[source], source


def prediction_columns(*, predictor: Predictor) -> dict[str, list[Any] | None]:
    """Every mode as predicted, measurements not put in place, in columns for a download."""
    found = PredictionSet.objects.filter(predictor=predictor).defer("columns").first()
    if found is None:
        raise Conflict(
            f"Predictor {predictor.pk} has no stored predictions: it is {predictor.state}, or a newer fit "
            "replaced them."
        )
    prediction = prediction_of(found.pk, found.created)
    knobs = _knobs(predictor.device_model.ranges, tuple(found.minibatches))
    columns = {name: getattr(prediction, name) for name in ALWAYS + WHERE_KNOWN}
    if not time_level_known(predictor):
        columns |= {"time_ms": None, "time_log_sd": None}
    return {
        **{name: knobs[:, place].tolist() for place, name in enumerate(KNOB_COLUMNS + WORKLOAD_COLUMNS)},
        **{name: None if column is None else column.tolist() for name, column in columns.items()},
    }
