"""One workload measured at a few modes: the formula, its residual and what remains unknown.

The same steps serve time and power: (1) the best undisturbed fit; (2) around it, with the formula
linearised, the residual kernel is rescaled by evidence and doubtful measurements are marked down; (3) a
randomised-MAP ensemble; (4) each member is completed by its own residual process.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from modeling.core.prediction import FloatArray
from modeling.core.roofline.ensemble import Curve, Fits, fit_members, tempered_weights
from modeling.core.roofline.priors import ParameterPrior
from modeling.core.roofline.residual import Kernel, condition
from modeling.core.roofline.robust import precision_weights

MEMBERS = 60
STARTS = 6  # undisturbed fits, to find the right regime
ROUNDS = 2  # of rescaling the kernel and marking down
# shifts of ln variance, ln length and ln noise the evidence may choose from, and the sd of their normal prior
VARIANCE_SHIFTS, VARIANCE_SHIFT_SD = (0.0, 1.0, 2.0, 3.0), 1.2
LENGTH_SHIFTS, LENGTH_SHIFT_SD = (-0.7, 0.0, 0.7), 0.4
NOISE_SHIFTS, NOISE_SHIFT_SD = (-1.0, 0.0, 1.0, 2.0), 0.7
MEAN_TEMPER = {"time": 0.5, "power": 0.3}  # how sharply members are weighted for the mean
SPREAD_TEMPER = 0.1  # … and for the variance


@dataclass
class QuantityFit:
    """An ensemble for ln time or ln power: members' parameters, their misfit at the measured modes
    (members, n), and the residual kernel with each measurement's noise variance (n,)."""

    fits: Fits
    kernel: Kernel
    noise: FloatArray
    misfit: FloatArray

    def combine(
        self, curves: FloatArray, known: FloatArray, wanted: FloatArray, temper: float
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance (m,) of a new measurement from the members' curves (members, m)."""
        correction, variance = condition(self.kernel, known, self.noise, self.misfit, wanted)
        completed = curves + correction
        mean = tempered_weights(self.fits.own_cost, temper) @ completed
        spread = tempered_weights(self.fits.own_cost, SPREAD_TEMPER) @ (completed - mean) ** 2
        return mean, spread + variance + self.kernel.noise


@dataclass(frozen=True)
class Linearised:
    """The formula around its best fit: how far the measurements (n,) lie from the prior mean's curve, and
    the covariance (n, n) that the parameters' uncertainty gives them."""

    deviation: FloatArray
    covariance: FloatArray


def linearise(curve: Curve, observed: FloatArray, prior: ParameterPrior, theta: FloatArray) -> Linearised:
    """Around theta (parameters,); observed (n,) in ln ms or ln W."""
    value, slope = curve(theta[None], np.zeros(1, dtype=int))
    gradient = slope[0].T
    deviation = observed - value[0] + gradient @ (theta - prior.mean)
    return Linearised(deviation, gradient @ prior.covariance @ gradient.T)


def fit_quantity(
    curve: Curve,
    single: Curve,
    observed: FloatArray,
    prior: ParameterPrior,
    kernel: Kernel,
    known: FloatArray,
    rng: np.random.Generator,
    members: int = MEMBERS,
) -> QuantityFit:
    """Fit observed (n,) at features known (n, 5). `single` is the curve of the undisturbed member alone."""
    adapted, noise = kernel, np.full(len(observed), kernel.noise)
    for _ in range(ROUNDS if len(observed) else 0):
        covariance = adapted.covariance(known, known) + np.diag(noise)
        quick = fit_members(single, observed, prior, covariance, STARTS, rng, disturb=False)
        around = linearise(single, observed, prior, quick.theta[quick.best])
        adapted = rescaled(kernel, around, known, noise / adapted.noise)
        noise = marked_down(adapted, around, known)
    covariance = adapted.covariance(known, known) + np.diag(noise)
    fits = fit_members(curve, observed, prior, covariance, members, rng)
    if not len(observed):
        fits.own_cost[:] = 0.0  # draws of the prior, each as likely
    values, _ = curve(fits.theta, np.arange(members))
    return QuantityFit(fits, adapted, noise, observed - values)


def rescaled(kernel: Kernel, around: Linearised, known: FloatArray, doubt: FloatArray) -> Kernel:
    """The kernel with variance, length and noise shifted to their posterior mean, by evidence on a small
    grid.

    doubt (n,): each measurement's noise variance in units of a good one's.
    """
    shifts = np.array(list(product(VARIANCE_SHIFTS, LENGTH_SHIFTS, NOISE_SHIFTS)))
    sd = np.array([VARIANCE_SHIFT_SD, LENGTH_SHIFT_SD, NOISE_SHIFT_SD])
    smooth = {length: kernel.scaled(length=length).covariance(known, known) for length in LENGTH_SHIFTS}
    log_posterior = -0.5 * ((shifts / sd) ** 2).sum(axis=1)
    for row, (variance, length, noise) in enumerate(shifts):
        measured = np.exp(variance) * smooth[length] + np.diag(kernel.noise * np.exp(noise) * doubt)
        log_posterior[row] += _log_evidence(around.deviation, around.covariance + measured)
    weights = np.exp(log_posterior - log_posterior.max())
    return kernel.scaled(*(weights @ shifts / weights.sum()))


def _log_evidence(deviation: FloatArray, covariance: FloatArray) -> float:
    factor = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(factor, deviation)
    return float(-0.5 * whitened @ whitened - np.log(np.diag(factor)).sum())


def marked_down(kernel: Kernel, around: Linearised, known: FloatArray, iterations: int = 4) -> FloatArray:
    """Noise variance (n,) of each measurement, larger where the others contradict it (leave-one-out, GPML
    eq. 5.12)."""
    smooth = around.covariance + kernel.covariance(known, known)
    noise = np.full(len(known), kernel.noise)
    for _ in range(iterations):
        precision = np.linalg.inv(smooth + np.diag(noise))
        variance = 1 / np.diag(precision)
        error = precision @ around.deviation * variance
        noise = kernel.noise / precision_weights(error, np.maximum(variance - noise, 0.0), kernel.noise)
    return noise
