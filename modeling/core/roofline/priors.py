"""What is believed of a workload before it is measured. Every constant of the roofline method stands here.

A prior is normal in the log-parameters of formula.py. The values were set by looking at full-table fits of
the public AGX Orin training tables (PowerTrain's), and enter with weight 1 / (K + 1) beside K reference
workloads.
"""

from dataclasses import dataclass

import numpy as np

from modeling.core.prediction import FloatArray
from modeling.core.roofline.formula import POWER_PARAMETERS, TIME_PARAMETERS

# name: (mean, standard deviation); the six times relative to an unknown common level
TIME_PRIOR = {
    "gpu_compute": (0.0, 1.0),
    "gpu_memory": (-0.1, 1.0),
    "gpu_constant": (-1.8, 1.5),
    "launch": (-0.5, 1.2),
    "loading": (-0.9, 1.3),
    "serial": (-1.8, 1.5),
    "gpu_sharpness": (0.5, 0.5),
    "overlap_sharpness": (1.5, 0.7),
    "cpu_sharpness": (1.0, 1.0),
    "memory_stall": (-2.5, 0.8),
    "launch_contention": (-2.5, 1.2),
    "cores_lost": (0.0, 0.5),
    "half_batch": (0.0, 1.0),
    "gpu_batch": (1.0, 0.05),
    "constant_batch": (0.4, 0.4),
    "launch_batch": (0.1, 0.2),
    "loading_batch": (1.0, 0.2),
    "serial_batch": (0.3, 0.4),
}
LEVELLED_TIMES = 6  # the first six share an unknown level
TIME_LEVEL_SD = 3.0  # ln ms: from microseconds to minutes
# name: (mean ln W, sd beside references from the same device model, sd without)
POWER_PRIOR = {
    "board": (2.4, 0.08, 0.7),
    "memory_idle": (1.1, 0.3, 0.7),
    "gpu_idle": (-1.2, 0.6, 0.8),
    "gpu_busy": (0.5, 1.0, 1.0),
    "core_idle": (-0.8, 0.6, 0.8),
    "core_busy": (0.3, 1.0, 1.0),
    "memory_active": (0.7, 0.8, 0.8),
    "gpu_voltage": (0.0, 0.5, 0.5),
    "cpu_voltage": (0.0, 0.5, 0.5),
    "gpu_compute": (0.0, 1.0, 1.0),
    "gpu_feeding": (-1.0, 1.0, 1.0),
    "busy_filling": (0.5, 0.5, 0.5),
}
REFERENCE_CLIP = 3.0  # a reference's parameter further than this from the prior mean says "absent", not more

TIME_MEAN = np.array([TIME_PRIOR[name][0] for name in TIME_PARAMETERS])
TIME_SD = np.array([TIME_PRIOR[name][1] for name in TIME_PARAMETERS])
POWER_MEAN = np.array([POWER_PRIOR[name][0] for name in POWER_PARAMETERS])
POWER_SD = np.array([POWER_PRIOR[name][1] for name in POWER_PARAMETERS])
POWER_SD_FOREIGN = np.array([POWER_PRIOR[name][2] for name in POWER_PARAMETERS])
LEVELLED = (np.arange(len(TIME_PARAMETERS)) < LEVELLED_TIMES).astype(float)


@dataclass(frozen=True)
class ParameterPrior:
    """Normal belief about parameters: mean (parameters,), covariance (parameters, parameters)."""

    mean: FloatArray
    covariance: FloatArray

    def extended(self, mean: FloatArray, sd: FloatArray) -> "ParameterPrior":
        """The same with further, independent parameters behind."""
        size, extra = len(self.mean), len(mean)
        covariance = np.zeros((size + extra, size + extra))
        covariance[:size, :size] = self.covariance
        covariance[size:, size:] = np.diag(np.asarray(sd) ** 2)
        return ParameterPrior(np.r_[self.mean, mean], covariance)

    def shifted(self, shift: FloatArray) -> "ParameterPrior":
        return ParameterPrior(self.mean + shift, self.covariance)


def time_prior(mean: FloatArray = TIME_MEAN, sd: FloatArray = TIME_SD) -> ParameterPrior:
    """Independent parameters, but for the level shared by the six times."""
    return ParameterPrior(mean, np.diag(sd**2) + TIME_LEVEL_SD**2 * np.outer(LEVELLED, LEVELLED))


def power_prior(mean: FloatArray = POWER_MEAN, sd: FloatArray = POWER_SD) -> ParameterPrior:
    return ParameterPrior(mean, np.diag(sd**2))


def shrunk_mean(references: FloatArray, generic: FloatArray) -> FloatArray:
    """Mean of the references' parameters (references, parameters), the generic mean counting as one more."""
    held = np.clip(references, generic - REFERENCE_CLIP, generic + REFERENCE_CLIP)
    return (held.sum(axis=0) + generic) / (len(references) + 1)
