"""The regressions of "Characterizing training" §5.7: a line for each workload's time, one for all energy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modeling.core.prediction import KNOB_COLUMNS, FloatArray, IntArray, Measured, Prediction, present
from modeling.core.predictors.base import FLOOR, Card, Tensors
from modeling.core.predictors.linear import LinearPredictor


class UniversalPredictor(LinearPredictor):
    """Linear time; energy linear in the knobs and that time, with weights common to all workloads.

    The workload's own power is not used, the references stand for it. Energy over time is the power, held at
    a tenth of the references' least. Meant for the four modes of the sampling "recommended".
    """

    method = "universal"
    needs_reference = True

    @classmethod
    def prepare(cls, corpus: Sequence[Measured], seed: int = 0) -> Any:
        """Weights (6,) of cores, cpu, gpu, mem, time and 1 for energy_mj, and the least power_mw seen."""
        if not corpus:
            return None
        inputs = np.vstack([_energy_inputs(each.knobs, each.time_ms) for each in corpus])
        power, time = (np.concatenate([getattr(m, n) for m in corpus]) for n in ("power_mw", "time_ms"))
        scale = inputs.max(axis=0)
        weights = np.linalg.lstsq(inputs / scale, power * time / 1000)[0] / scale
        return weights, float(power.min())

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        super()._fit(knobs, time_ms, power_mw)
        prepared = self.prepared if self.prepared is not None else self.prepare(self.corpus, self.seed)
        self.energy_weights_, self.least_power_ = prepared

    def _predict(self, knobs: IntArray) -> Prediction:
        time = super()._predict(knobs).time_ms
        energy_mj = _energy_inputs(knobs, time) @ self.energy_weights_
        return Prediction(time, np.maximum(energy_mj / time * 1000, FLOOR * self.least_power_))

    def _state(self) -> tuple[Tensors, Card]:
        tensors, card = super()._state()
        return tensors | {"energy_weights": self.energy_weights_}, card | {"least_power": self.least_power_}

    def _restore(self, tensors: Tensors, card: Card) -> None:
        super()._restore(tensors, card)
        self.energy_weights_, self.least_power_ = tensors["energy_weights"], card["least_power"]


def _energy_inputs(knobs: IntArray, time_ms: FloatArray) -> FloatArray:
    """The four knobs, time and 1, float (n, 6); a minibatch size acts through the time."""
    return np.column_stack([present(knobs)[:, : len(KNOB_COLUMNS)], time_ms, np.ones(len(time_ms))])
