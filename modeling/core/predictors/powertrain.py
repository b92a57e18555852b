"""PowerTrain: transfer of a reference workload's network to a new one (§3.2)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modeling.core.prediction import FloatArray, Measured
from modeling.core.predictors import networks
from modeling.core.predictors.base import Card, Tensors
from modeling.core.predictors.nn import NetworkPredictor


class PowerTrainPredictor(NetworkPredictor):
    """The reference network with a fresh last layer, all layers trained on the measured modes.

    prepared: the `nn` predictor fitted on the reference's table, about a minute for 4,368 modes.
    For a board whose largest clocks differ from the reference's the loss is MAPE instead of MSE (§4.3.4).
    """

    method = "powertrain"
    needs_reference = True

    @classmethod
    def prepare(cls, corpus: Sequence[Measured], seed: int = 0) -> Any:
        """The reference network; None without a corpus."""
        if not corpus:
            return None
        reference = widest_in_power(corpus)
        cores, cpu, gpu, mem = (int(value) for value in reference.maximum)
        network = NetworkPredictor(seed=seed, board_maximum=(cores, cpu, gpu, mem))
        return network.fit(reference.knobs, reference.time_ms, reference.power_mw)

    def _train(self, inputs: FloatArray, values: FloatArray) -> networks.TwinNetwork:
        reference = self.prepared or self.prepare(self.corpus, self.seed)
        if reference.width_ != self.width_:
            raise ValueError(
                f"the reference has {reference.width_} knobs, these modes {self.width_}: "
                "with a minibatch column both need one"
            )
        self.same_board_ = bool(np.array_equal(reference.maximum_, self.maximum_))
        start = networks.with_new_head(reference.network_, values, self.seed)
        loss: networks.Loss = "mse" if self.same_board_ else "mape"
        return networks.train(start, inputs, values, seed=self.seed, loss=loss)

    def _state(self) -> tuple[Tensors, Card]:
        tensors, card = super()._state()
        return tensors, card | {"same_board": self.same_board_}

    def _restore(self, tensors: Tensors, card: Card) -> None:
        super()._restore(tensors, card)
        self.same_board_ = card["same_board"]


def widest_in_power(corpus: Sequence[Measured]) -> Measured:
    """The workload whose power varies most: the one that transfers best (§4.1)."""
    return max(corpus, key=lambda measured: float(measured.power_mw.std()))
