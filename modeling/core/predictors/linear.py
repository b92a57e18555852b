"""Linear regression of time and power on the knobs ("Characterizing training" §5.7.1)."""

import numpy as np

from modeling.core.prediction import FloatArray, IntArray, Prediction
from modeling.core.predictors.base import FLOOR, BasePredictor, Card, Tensors


class LinearPredictor(BasePredictor):
    """a cpu + b cores + c gpu + d mem + e, by least squares on the raw clocks, as published.

    With fewer modes than coefficients the smallest weights that fit are taken. A straight line can fall
    below zero where the time does not; such values are held at a tenth of the least one measured.
    """

    method = "linear"

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        values = np.column_stack([time_ms, power_mw])
        self.centre_ = knobs.mean(axis=0)
        self.scale_ = np.where(np.ptp(knobs, axis=0) > 0, knobs.std(axis=0), 1.0)
        self.level_, self.floor_ = values.mean(axis=0), FLOOR * values.min(axis=0)
        self.weights_ = np.linalg.lstsq(self._standardised(knobs), values - self.level_)[0]

    def _standardised(self, knobs: IntArray) -> FloatArray:
        return (knobs - self.centre_) / self.scale_

    def _predict(self, knobs: IntArray) -> Prediction:
        values = self.level_ + self._standardised(knobs) @ self.weights_
        return Prediction(*np.maximum(values, self.floor_).T)

    def _state(self) -> tuple[Tensors, Card]:
        names = ("centre", "scale", "level", "floor", "weights")
        return {name: getattr(self, f"{name}_") for name in names}, {}

    def _restore(self, tensors: Tensors, card: Card) -> None:
        for name in ("centre", "scale", "level", "floor", "weights"):
            setattr(self, f"{name}_", tensors[name])
