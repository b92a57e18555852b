"""Everything runs as MAXN does: NVIDIA's default mode as a baseline, and the dummy of the contract tests."""

import numpy as np

from modeling.core.prediction import FloatArray, IntArray, Prediction, relative
from modeling.core.predictors.base import BasePredictor, Card, Tensors


def maxn_row(knobs: IntArray) -> int:
    """The row nearest to all knobs at their maximum, by the mean of the relative knobs."""
    return int(np.argmax(relative(knobs).mean(axis=1)))


class MaxnPredictor(BasePredictor):
    """Constant: the time and power of the largest mode measured."""

    method = "maxn"

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        row = maxn_row(knobs)
        self.values_ = np.array([time_ms[row], power_mw[row]])

    def _predict(self, knobs: IntArray) -> Prediction:
        time, power = self.values_
        return Prediction(np.full(len(knobs), time), np.full(len(knobs), power))

    def _state(self) -> tuple[Tensors, Card]:
        return {"values": self.values_}, {}

    def _restore(self, tensors: Tensors, card: Card) -> None:
        self.values_ = tensors["values"]
