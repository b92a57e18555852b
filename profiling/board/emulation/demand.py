"""What a workload asks of a board: kernels with their arithmetic and traffic, host work, loader work.

Sizes are of the published networks (operations, parameters), traffic and CPU cycles are invented of the
right size; see docs/science.md, "The emulated board's law".
"""

import re
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from profiling.errors import InvalidInput

FloatArray = NDArray[np.float64]
GROUPS = 8


@dataclass(frozen=True)
class EmulatedWorkload:
    """What to emulate: a network of the zoo, "training" or "inference", minibatch size, loader workers."""

    network: str
    kind: str = "training"
    minibatch: int = 16
    loader_workers: int = 4

    def __post_init__(self) -> None:
        if self.kind not in ("training", "inference"):
            raise InvalidInput(f"kind {self.kind!r}: use training or inference")
        if self.minibatch < 1 or self.loader_workers < 0:
            raise InvalidInput("minibatch must be 1 or more, loader workers 0 or more")
        network_of(self.network)


@dataclass(frozen=True)
class Network:
    """Per sample and forward pass unless said otherwise.

    gflop; traffic_mb read and written by kernels; params_m parameters; kernels launched; efficiency of its
    arithmetic; spread of ln(arithmetic intensity) over kernels; reuse: share of traffic a big enough cache
    keeps; blocks: thread blocks per sample and kernel; loader_mcycles to read and prepare a sample;
    sample_mb; host_mcycles a step, outside launches.
    """

    gflop: float
    traffic_mb: float
    params_m: float
    kernels: int
    efficiency: float
    spread: float
    reuse: float
    blocks: float
    loader_mcycles: float
    sample_mb: float
    host_mcycles: float


NETWORKS: dict[str, Network] = {
    "lenet5": Network(0.0008, 0.12, 0.06, 12, 0.20, 0.5, 0.6, 2, 0.25, 0.004, 3.0),
    "alexnet": Network(1.43, 14.0, 61.1, 22, 0.55, 1.0, 0.3, 40, 10.5, 0.6, 5.0),
    "resnet18": Network(3.64, 118.0, 11.7, 62, 0.60, 1.0, 0.30, 60, 10.6, 0.6, 6.0),
    "mobilenet_v2": Network(0.62, 128.0, 3.5, 152, 0.22, 1.3, 0.25, 48, 13.5, 0.6, 60.0),
    "mobilenet_v3": Network(0.46, 92.0, 5.5, 170, 0.20, 1.4, 0.25, 44, 13.5, 0.6, 75.0),
    "vgg11": Network(15.2, 120.0, 132.9, 30, 0.72, 0.8, 0.30, 90, 10.6, 0.6, 5.0),
    "yolo_tiny": Network(4.6, 140.0, 3.2, 190, 0.48, 1.0, 0.25, 70, 4.0, 1.2, 205.0),
    "lstm": Network(0.40, 21.0, 8.6, 190, 0.62, 0.6, 0.45, 10, 0.04, 0.002, 3.0),
    "bert_tiny": Network(0.21, 7.0, 4.4, 44, 0.35, 0.8, 0.5, 14, 0.15, 0.004, 3.0),
    "distilbert": Network(24.0, 210.0, 66.4, 110, 0.62, 0.9, 0.40, 60, 0.35, 0.006, 5.0),
    "bert_base": Network(72.0, 800.0, 109.5, 215, 0.50, 0.9, 0.40, 80, 0.5, 0.008, 7.0),
    "wav2vec2": Network(58.0, 620.0, 94.4, 230, 0.55, 1.1, 0.35, 80, 3.0, 0.35, 7.0),
}


def network_of(name: str) -> Network:
    """By the zoo's key or by its printed name: resnet18, ResNet-18."""
    wanted = re.sub(r"[^a-z0-9]", "", name.lower())
    for key, network in NETWORKS.items():
        if key.replace("_", "") == wanted:
            return network
    raise InvalidInput(f"no emulated network {name!r}; there are {', '.join(NETWORKS)}")


@dataclass(frozen=True)
class Demand:
    """One minibatch, kernel groups in the order they are launched; arrays of shape (groups,).

    flops, bytes moved if nothing is kept in cache, launches, cache_mb one kernel would like to keep.
    """

    flops: FloatArray
    bytes: FloatArray
    launches: FloatArray
    cache_mb: FloatArray
    network: Network
    workload: EmulatedWorkload

    @property
    def host_cycles(self) -> float:
        share = 1.0 if self.workload.kind == "training" else 0.25
        return share * self.network.host_mcycles * 1e6 * (0.6 + 0.4 * self.workload.minibatch / 16)

    @property
    def loader_cycles(self) -> float:
        """CPU cycles to prepare one sample; inference only decodes and resizes."""
        share = 1.0 if self.workload.kind == "training" else 0.35
        return share * self.network.loader_mcycles * 1e6


def demand_of(workload: EmulatedWorkload) -> Demand:
    network = network_of(workload.network)
    forward = _forward(network, workload.minibatch)
    if workload.kind == "inference":
        passes = [forward]
    else:
        backward = forward[:, ::-1] * np.array([[2.0], [2.1], [1.8], [1.0]])
        passes = [forward, backward, _optimizer(network)]
    flops, moved, launches, cache_mb = np.concatenate(passes, axis=1)
    return Demand(flops, moved, launches, cache_mb, network, workload)


def _forward(network: Network, minibatch: int) -> FloatArray:
    """Rows flops, bytes, launches, cache_mb; columns groups: quantiles of a log-normal intensity.

    Groups of high and low intensity alternate, as convolutions and normalisations do.
    """
    normal = np.array([NormalDist().inv_cdf((index + 0.5) / GROUPS) for index in range(GROUPS)])
    flop_share = np.exp(0.5 * normal)
    byte_share = flop_share / np.exp(network.spread * normal)
    flops = flop_share / flop_share.sum() * network.gflop * 1e9 * minibatch
    traffic = byte_share / byte_share.sum() * network.traffic_mb * 1e6 * minibatch
    weights = np.full(GROUPS, network.params_m * 4e6 / GROUPS)
    launches = np.full(GROUPS, network.kernels / GROUPS)
    alternating = np.argsort(np.arange(GROUPS) * 5 % GROUPS)
    rows = np.stack([flops, traffic + weights, launches, (traffic + weights) / launches / 1e6])
    return rows[:, alternating]


def _optimizer(network: Network) -> FloatArray:
    """SGD with momentum: weights, gradients and momenta read, two of them written, in a few launches."""
    parameters = network.params_m * 1e6
    return np.array([[2 * parameters], [20 * parameters], [6.0], [20 * network.params_m / 6]])
