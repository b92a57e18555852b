"""What is believed of one target workload on one board, put together from the corpus.

References from the same device model (same knob maxima) give parameters, kernels and residual surfaces.
References from another one are foreign: their relative shapes are kept, watts become vague, surfaces are
not used. References of the same kind (training or inference) go before others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modeling.core.prediction import FloatArray, IntArray
from modeling.core.roofline.corpus import CorpusFit, ReferenceFit, Surface
from modeling.core.roofline.formula import settings
from modeling.core.roofline.priors import (
    POWER_MEAN,
    POWER_SD,
    POWER_SD_FOREIGN,
    TIME_MEAN,
    ParameterPrior,
    power_prior,
    shrunk_mean,
    time_prior,
)
from modeling.core.roofline.residual import Kernel, features, smooth_mean

FOREIGN_KERNEL_SHIFT = np.log(2.0)  # ln variance and ln noise of the residual on a board not seen before
# how much of a reference's residual surface the target is expected to share, and the sd of that guess
SHARED_SURFACE, SHARED_SURFACE_SD = 0.5, 0.3
SHARED_ANOMALY, SHARED_ANOMALY_SD = 0.4, 0.3
SAME_MODE = 1e-6  # features closer than this are the same mode


@dataclass(frozen=True)
class Belief:
    """Priors of the target's parameters, its residual kernels, and the references that share its board."""

    maximum: FloatArray
    time: ParameterPrior
    power: ParameterPrior
    time_kernel: Kernel
    power_kernel: Kernel
    time_surface_kernel: Kernel
    power_surface_kernel: Kernel
    references: tuple[ReferenceFit, ...] = ()
    foreign: bool = False

    def surfaces(self, knobs: IntArray) -> tuple[FloatArray, FloatArray]:
        """The references' residuals at knobs (modes, 4 or 5), for time and for power: each (surfaces,
        modes)."""
        at = features(settings(knobs, self.maximum))
        shared = () if self.foreign else self.references
        time = _surfaces([r.time_surface for r in shared], self.time_surface_kernel, at)
        return time, _surfaces([r.power_surface for r in shared], self.power_surface_kernel, at)

    def doubts(self, knobs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Variances of ln ms and of ln W at knobs (modes, 4 or 5), beside those of the surfaces: an anomaly
        of a reference recurs whole or not at all."""
        at = features(settings(knobs, self.maximum))
        shared = () if self.foreign else self.references
        time = _doubt([r.time_surface for r in shared], at)
        return time, _doubt([r.power_surface for r in shared], at)


def _surfaces(surfaces: Sequence[Surface], kernel: Kernel, at: FloatArray) -> FloatArray:
    """One row a reference, and a last one with the mean of the known anomalies."""
    if not surfaces:
        return np.zeros((0, len(at)))
    rows = [smooth_mean(kernel, surface.rows, surface.coefficients, at) for surface in surfaces]
    return np.array([*rows, np.mean([_anomalies(surface, at) for surface in surfaces], axis=0)])


def _doubt(surfaces: Sequence[Surface], at: FloatArray) -> FloatArray:
    """Variance (modes,) of each reference's anomaly at chance SHARED_ANOMALY / references, else nothing."""
    if not surfaces:
        return np.zeros(len(at))
    anomalies = np.array([_anomalies(surface, at) for surface in surfaces])
    return SHARED_ANOMALY * np.mean(anomalies**2, axis=0) - (SHARED_ANOMALY * anomalies.mean(axis=0)) ** 2


def _anomalies(surface: Surface, at: FloatArray) -> FloatArray:
    out = np.zeros(len(at))
    known = {
        tuple(np.round(row / SAME_MODE)): value
        for row, value in zip(surface.anomalous_knobs, surface.anomalies, strict=True)
    }
    if known:
        for place, row in enumerate(np.round(at / SAME_MODE)):
            out[place] = known.get(tuple(row), 0.0)
    return out


def belief_for(corpus: CorpusFit, maximum: FloatArray, kind: str = "training") -> Belief:
    """The belief about a workload of this kind on a board with these knob maxima (4,)."""
    maximum = np.asarray(maximum, dtype=float)
    kernels = corpus.time_kernel, corpus.power_kernel
    used, foreign = _suitable(corpus.references, maximum, kind)
    if not used:
        return Belief(maximum, time_prior(), power_prior(sd=POWER_SD_FOREIGN), *kernels, *kernels)
    time = time_prior(shrunk_mean(np.array([r.theta for r in used]), TIME_MEAN))
    watts = shrunk_mean(np.array([r.phi for r in used]), POWER_MEAN)
    if foreign:
        vague = power_prior(watts, POWER_SD_FOREIGN)
        wider = _wider(corpus.time_kernel), _wider(corpus.power_kernel)
        return Belief(maximum, time, vague, *wider, *kernels, used, foreign)
    weights = np.r_[np.full(len(used), SHARED_SURFACE / len(used)), SHARED_ANOMALY]
    sds = np.r_[np.full(len(used), SHARED_SURFACE_SD), SHARED_ANOMALY_SD]
    power = power_prior(watts, POWER_SD).extended(weights, sds)
    return Belief(maximum, time.extended(weights, sds), power, *kernels, *kernels, used)


def _wider(kernel: Kernel) -> Kernel:
    return kernel.scaled(variance=FOREIGN_KERNEL_SHIFT, noise=FOREIGN_KERNEL_SHIFT)


def _suitable(
    references: Sequence[ReferenceFit], maximum: FloatArray, kind: str
) -> tuple[tuple[ReferenceFit, ...], bool]:
    """The references to use, and whether they are foreign: those of the board and of the kind first."""
    local = [r for r in references if np.array_equal(r.maximum, maximum)]
    among = local or list(references)
    return tuple([r for r in among if r.kind == kind] or among), not local
