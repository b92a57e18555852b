"""PowerTrain's network trained from scratch on the measured modes alone (§3.1, "NN")."""

import numpy as np
import torch

from modeling.core.prediction import FloatArray, IntArray, Prediction
from modeling.core.predictors import networks
from modeling.core.predictors.base import FLOOR, BasePredictor, Card, Tensors

SCALES = ("input_mean", "input_sd", "output_mean", "output_sd")


class NetworkPredictor(BasePredictor):
    """Needs no reference; fitted on a whole table it is the reference network of PowerTrain.

    A network has no lower bound; predictions are held at a tenth of the least value measured.
    """

    method = "nn"

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        inputs, values = knobs.astype(float), np.column_stack([time_ms, power_mw])
        self.floor_ = FLOOR * values.min(axis=0)
        self.network_ = self._train(inputs, values)

    def _train(self, inputs: FloatArray, values: FloatArray) -> networks.TwinNetwork:
        return networks.train(networks.fresh(inputs, values, self.seed), inputs, values, seed=self.seed)

    def _predict(self, knobs: IntArray) -> Prediction:
        values = self.network_.predict(knobs.astype(float))
        return Prediction(*np.maximum(values, self.floor_[:, None]))

    def _state(self) -> tuple[Tensors, Card]:
        tensors = {name: getattr(self.network_, name) for name in SCALES} | {"floor": self.floor_}
        for layer, pair in enumerate(zip(self.network_.weights, self.network_.biases, strict=True)):
            tensors[f"weight{layer}"], tensors[f"bias{layer}"] = (each.numpy() for each in pair)
        return tensors, {}

    def _restore(self, tensors: Tensors, card: Card) -> None:
        self.floor_ = tensors["floor"]
        layers = range(len(networks.WIDTHS))
        weights, biases = (
            tuple(torch.from_numpy(tensors[f"{name}{layer}"]) for layer in layers)
            for name in ("weight", "bias")
        )
        self.network_ = networks.TwinNetwork(weights, biases, *(tensors[name] for name in SCALES))
