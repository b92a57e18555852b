"""Doubtful measurements: a few modes of every table are grossly off, say when a clock
setting did not take effect.

Contaminated normal errors (Tukey, 1960), fitted by expectation-maximisation: a measurement is good with
probability 1 - RATE, else its error has standard deviation GROSS_SD. In PowerTrain's public tables about 3 %
of the modes of ResNet and YOLO lie more than 15 % off a robustly fitted formula.
"""

import numpy as np

from modeling.core.prediction import FloatArray

RATE = 0.02
GROSS_SD = 0.5  # of ln time or ln power


def precision_weights(error: FloatArray, variance: FloatArray, noise: float) -> FloatArray:
    """Expected precision of each measurement relative to a good one's 1 / noise, between about 0 and 1.

    error (n,): how far each measurement is from what the others say; variance (n,): of that guess without the
    measurement's own noise; noise: the noise variance of a good measurement.
    """
    gross = GROSS_SD**2
    good_log = np.log1p(-RATE) + _log_density(error, variance + noise)
    gross_log = np.log(RATE) + _log_density(error, variance + gross)
    good = 1 / (1 + np.exp(np.clip(gross_log - good_log, -700, 700)))
    return good + (1 - good) * noise / gross


def _log_density(error: FloatArray, variance: FloatArray) -> FloatArray:
    return -0.5 * (np.log(variance) + error**2 / variance)
