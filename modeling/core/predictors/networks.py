"""PowerTrain's network (§3.1, table 4): 256-128-64-1, ReLU, dropout after layers 1 and 2.

Time and power have a network each. The two are stacked along a leading axis and trained in the same steps,
which costs little more than one alone; no weight, loss, optimiser state or checkpoint is shared.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from modeling.core.prediction import FloatArray

WIDTHS = (256, 128, 64, 1)
QUANTITIES = 2  # time, power
EPOCHS = 100
LEARNING_RATE = 1e-3
HELD_OUT = 0.1  # share of the modes for validation
# The paper trains on about 40 measured minibatches a mode (§4). A table of means holds one value for them, so
# an epoch repeats each mode; a large table that would not say more by it is repeated less.
ENTRIES = 40
ROWS_PER_EPOCH = 16_000
# Not published: the dropout rate, the rows of a training step, and that targets are standardised too.
DROPOUT = 0.1
ROWS_PER_STEP = 64

Loss = Literal["mse", "mape"]


@dataclass(frozen=True)
class TwinNetwork:
    """weights: per layer (2, inputs, outputs); biases: per layer (2, 1, outputs); float32.

    input_mean, input_sd (inputs,): of the raw knobs, as scikit-learn's StandardScaler has them.
    output_mean, output_sd (2,): of time_ms and power_mw.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    input_mean: FloatArray
    input_sd: FloatArray
    output_mean: FloatArray
    output_sd: FloatArray

    def predict(self, knobs: FloatArray) -> FloatArray:
        """time_ms and power_mw, float (2, n), not bounded below."""
        with torch.inference_mode():
            scaled = forward(self.weights, self.biases, self.inputs(knobs))
        return scaled.double().numpy() * self.output_sd[:, None] + self.output_mean[:, None]

    def inputs(self, knobs: FloatArray) -> Tensor:
        """Standardised knobs, (2, n, inputs): the same for both networks."""
        scaled = torch.tensor((knobs - self.input_mean) / self.input_sd, dtype=torch.float32)
        return scaled.expand(QUANTITIES, *scaled.shape)

    def outputs(self, values: FloatArray) -> Tensor:
        """Standardised targets (2, n) of time_ms and power_mw (n, 2)."""
        return torch.tensor((values - self.output_mean) / self.output_sd, dtype=torch.float32).T


def fresh(knobs: FloatArray, values: FloatArray, seed: int) -> TwinNetwork:
    """An untrained network scaled to knobs (n, d) and values (n, 2)."""
    generator = torch.Generator().manual_seed(seed)
    sizes = (knobs.shape[1], *WIDTHS)
    layers = [_layer(*pair, generator) for pair in zip(sizes, sizes[1:], strict=False)]
    weights, biases = zip(*layers, strict=True)
    return TwinNetwork(weights, biases, *_scale(knobs), *_scale(values))


def with_new_head(network: TwinNetwork, values: FloatArray, seed: int) -> TwinNetwork:
    """The network with a fresh last layer (PowerTrain §3.2), its outputs scaled to the new values (n, 2)."""
    weight, bias = _layer(WIDTHS[-2], WIDTHS[-1], torch.Generator().manual_seed(seed))
    mean, sd = _scale(values)
    weights, biases = (*network.weights[:-1], weight), (*network.biases[:-1], bias)
    return replace(network, weights=weights, biases=biases, output_mean=mean, output_sd=sd)


def train(
    network: TwinNetwork,
    knobs: FloatArray,
    values: FloatArray,
    *,
    seed: int,
    loss: Loss = "mse",
) -> TwinNetwork:
    """Adam on all layers for EPOCHS epochs; the weights of the least validation loss are kept.

    knobs (n, d), values (n, 2). A tenth of the modes is held out for validation; with fewer than ten modes
    all are trained on, and validate too. loss: "mape" is the paper's choice for unlike boards (§4.3.4).
    Deterministic for a seed; torch's own random state is left alone.
    """
    inputs, targets = network.inputs(knobs), network.outputs(values)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(knobs)))
    held_out = order[: int(len(order) * HELD_OUT)]
    learned = order[len(held_out) :]
    validation = held_out if len(held_out) else learned
    offset = torch.tensor(network.output_mean / network.output_sd, dtype=torch.float32)[:, None]

    def losses(rows: Tensor, weights: tuple[Tensor, ...], biases: tuple[Tensor, ...], drop: float) -> Tensor:
        error = forward(weights, biases, inputs[:, rows], drop) - targets[:, rows]
        if loss == "mape":
            return (error / (targets[:, rows] + offset)).abs().mean(dim=1)
        return error.square().mean(dim=1)

    weights = tuple(each.clone().requires_grad_() for each in network.weights)
    biases = tuple(each.clone().requires_grad_() for each in network.biases)
    optimiser = torch.optim.Adam([*weights, *biases], lr=LEARNING_RATE, fused=True)
    best = _Checkpoint(weights, biases)
    with _own_randomness(seed):
        epoch_rows = learned.repeat(max(1, min(ENTRIES, ROWS_PER_EPOCH // len(knobs))))
        for _ in range(EPOCHS):
            for rows in epoch_rows[torch.randperm(len(epoch_rows))].split(ROWS_PER_STEP):
                optimiser.zero_grad()
                losses(rows, weights, biases, DROPOUT).sum().backward()
                optimiser.step()
            with torch.no_grad():
                best.consider(losses(validation, weights, biases, 0.0), weights, biases)
    return replace(network, weights=best.weights, biases=best.biases)


def forward(
    weights: tuple[Tensor, ...], biases: tuple[Tensor, ...], inputs: Tensor, drop: float = 0.0
) -> Tensor:
    """Standardised outputs (2, n) for inputs (2, n, d)."""
    hidden = inputs
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        hidden = torch.baddbmm(bias, hidden, weight)
        if layer < len(weights) - 1:
            hidden = torch.relu(hidden)
        if layer < 2 and drop:
            hidden = torch.dropout(hidden, drop, train=True)
    return hidden[..., 0]


class _Checkpoint:
    """The best weights so far, of time and power apart."""

    def __init__(self, weights: tuple[Tensor, ...], biases: tuple[Tensor, ...]) -> None:
        self.losses = torch.full((QUANTITIES,), torch.inf)
        self.weights = tuple(each.detach().clone() for each in weights)
        self.biases = tuple(each.detach().clone() for each in biases)

    def consider(self, losses: Tensor, weights: tuple[Tensor, ...], biases: tuple[Tensor, ...]) -> None:
        better = losses < self.losses
        self.losses = torch.where(better, losses, self.losses)
        for kept, now in zip((*self.weights, *self.biases), (*weights, *biases), strict=True):
            kept[better] = now[better]


@contextmanager
def _own_randomness(seed: int) -> Iterator[None]:
    """Seeded draws and one thread inside (small layers gain from no second), the caller's state outside."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def _layer(inputs: int, outputs: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Two linear layers, initialised as torch.nn.Linear is: uniform within 1/sqrt(inputs)."""
    bound = inputs**-0.5
    weight = torch.empty(QUANTITIES, inputs, outputs).uniform_(-bound, bound, generator=generator)
    bias = torch.empty(QUANTITIES, 1, outputs).uniform_(-bound, bound, generator=generator)
    return weight, bias


def _scale(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and sd per column, sd 1 where a column is constant."""
    sd = values.std(axis=0)
    return values.mean(axis=0), np.where(sd > 0, sd, 1.0)
