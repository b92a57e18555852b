"""The value of the nearest measured mode: the baseline that anything clever has to beat."""

import numpy as np
from scipy.spatial import cKDTree

from modeling.core.features import log_knobs
from modeling.core.prediction import FloatArray, IntArray, Prediction
from modeling.core.predictors.base import BasePredictor, Card, Tensors


class NearestPredictor(BasePredictor):
    """Nearest in the scaled log knobs; repeated measurements of a mode count by their first."""

    method = "nearest"

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        self.knobs_, self.values_ = knobs, np.column_stack([time_ms, power_mw])

    def _predict(self, knobs: IntArray) -> Prediction:
        tree = cKDTree(log_knobs(self.knobs_, self.maximum_))
        _, rows = tree.query(log_knobs(knobs, self.maximum_))
        return Prediction(*self.values_[rows].T)

    def _state(self) -> tuple[Tensors, Card]:
        return {"knobs": self.knobs_, "values": self.values_}, {}

    def _restore(self, tensors: Tensors, card: Card) -> None:
        self.knobs_, self.values_ = tensors["knobs"], tensors["values"]
