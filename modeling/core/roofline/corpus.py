"""Reference workloads: what fully measured tables teach about a workload that is not measured yet.

Each reference gives its parameters (to the prior's mean), and its residual surface (quirks of the board
that the formula does not know). Both kernels are learned on all references' residuals together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from modeling.core.prediction import FloatArray, IntArray, Measured
from modeling.core.roofline.dual import jacobian
from modeling.core.roofline.ensemble import Curve, fit_members
from modeling.core.roofline.formula import Settings, TimeParts, log_power, settings, time_parts
from modeling.core.roofline.priors import (
    LEVELLED,
    LEVELLED_TIMES,
    POWER_MEAN,
    TIME_SD,
    ParameterPrior,
    power_prior,
    shrunk_mean,
    time_prior,
)
from modeling.core.roofline.residual import Kernel, features, learn, smooth_mean
from modeling.core.roofline.robust import precision_weights

ROWS_FITTED = 500  # rows of a table used for its parameters
ROWS_POOLED = 300  # … again, beside the other references
ROWS_FOR_KERNEL = 250
ROWS_FOR_SURFACE = 1500
STARTS = 8
POOLINGS = 2
REWEIGHTINGS = 3
TIME_NOISE_SD, POWER_NOISE_SD = 0.03, 0.02  # the formula's own error, for weighting against the prior
SD_PER_MEDIAN = 1.4826  # of a normal distribution's absolute deviations
PRIOR_WIDENING = 1.5  # a reference may be an unusual workload
POWER_PRIOR_SD = 1.5
ANOMALY_SDS = 5.0  # a table's mode this many noise sds off its smooth surface is an anomaly


@dataclass
class Surface:
    """Residuals of one table, smoothed: mean = kernel(., rows) @ coefficients; anomalies are single modes
    far off it."""

    rows: FloatArray
    coefficients: FloatArray
    anomalous_knobs: FloatArray
    anomalies: FloatArray


@dataclass
class ReferenceFit:
    """Formula parameters and residual surfaces of one reference; maximum (4,) of its board's knobs."""

    name: str
    kind: str
    maximum: FloatArray
    theta: FloatArray
    phi: FloatArray
    time_surface: Surface
    power_surface: Surface


@dataclass
class CorpusFit:
    """Everything learned from the references; `fit_corpus` makes it, `to_state` stores it."""

    references: tuple[ReferenceFit, ...] = ()
    time_kernel: Kernel = field(default_factory=Kernel.generic)
    power_kernel: Kernel = field(default_factory=Kernel.generic)


def time_curve(at: Settings) -> Curve:
    """ln time of `at` and its Jacobian, for any theta."""

    def curve(theta: FloatArray, _who: IntArray) -> tuple[FloatArray, FloatArray]:
        time = time_parts(theta, at, differentiate=True).time
        return time.value, jacobian(time, theta.shape[1])

    return curve


def power_curve(at: Settings, parts: TimeParts) -> Curve:
    """ln power of `at` and its Jacobian, for any phi; member b uses row b of the time parts, if they have
    several."""
    several = len(parts.time.value) > 1

    def curve(phi: FloatArray, who: IntArray) -> tuple[FloatArray, FloatArray]:
        power = log_power(phi, at, parts.rows(who) if several else parts, differentiate=True)
        return power.value, jacobian(power, phi.shape[1])

    return curve


def fit_corpus(references: Sequence[Measured], seed: int = 0) -> CorpusFit:
    """Fit every reference table (minutes of board time each, seconds here); no reference gives the generic
    beliefs.

    First each by itself, then the power of each again under the mean of all those of its board: what a table
    alone leaves open (how a core's watts divide between clock and voltage, say) follows the others, so that
    the mean over references means something.
    """
    if not references:
        return CorpusFit()
    drafts = [_Draft(reference, np.random.default_rng([seed, k])) for k, reference in enumerate(references)]
    for _ in range(POOLINGS):
        for board in {tuple(draft.measured.maximum) for draft in drafts}:
            _pool([draft for draft in drafts if tuple(draft.measured.maximum) == board])
    time_kernel = learn([draft.kernel_set(draft.time_residual, draft.time_weight) for draft in drafts])
    power_kernel = learn([draft.kernel_set(draft.power_residual, draft.power_weight) for draft in drafts])
    return CorpusFit(tuple(d.finished(time_kernel, power_kernel) for d in drafts), time_kernel, power_kernel)


def _pool(drafts: Sequence["_Draft"]) -> None:
    """Fit the power of each of one board's references again under the mean of all of them."""
    prior = power_prior(shrunk_mean(np.array([draft.phi for draft in drafts]), POWER_MEAN))
    for draft in drafts:
        draft.pool(prior)


class _Draft:
    """One reference on its way into the corpus."""

    def __init__(self, measured: Measured, rng: np.random.Generator) -> None:
        self.measured, self.rng = measured, rng
        self.at = settings(measured.knobs, measured.maximum)
        self.features = features(self.at)
        self.time_log, self.power_log = np.log(measured.time_ms), np.log(measured.power_mw / 1000)
        rows = self._sample(ROWS_FITTED)
        prior = time_prior(sd=TIME_SD * PRIOR_WIDENING).shifted(LEVELLED * (self.time_log.mean() - 1))
        curve = time_curve(self.at[rows])
        self.theta = _robust_fit(curve, self.time_log[rows], prior, TIME_NOISE_SD, rng)
        self.parts = time_parts(self.theta[None], self.at)
        self.time_residual = self.time_log - self.parts.time.value[0]
        self.time_weight = _weights(self.time_residual, TIME_NOISE_SD)
        self._fit_power(rows, ParameterPrior(POWER_MEAN, np.eye(len(POWER_MEAN)) * POWER_PRIOR_SD**2))

    def pool(self, prior: ParameterPrior) -> None:
        """Fit the power again under this prior, with residuals that go together: then a table outvotes the
        prior only where it speaks clearly."""
        rows = self._sample(ROWS_POOLED)
        self._fit_power(rows, prior, Kernel.generic().covariance(self.features[rows], self.features[rows]))

    def _fit_power(self, rows: IntArray, prior: ParameterPrior, smooth: FloatArray | None = None) -> None:
        curve = power_curve(self.at[rows], time_parts(self.theta[None], self.at[rows]))
        self.phi = _robust_fit(curve, self.power_log[rows], prior, POWER_NOISE_SD, self.rng, smooth)
        self.power_residual = self.power_log - log_power(self.phi[None], self.at, self.parts).value[0]
        self.power_weight = _weights(self.power_residual, POWER_NOISE_SD)

    def _sample(self, count: int) -> IntArray:
        return self.rng.choice(len(self.measured), min(count, len(self.measured)), replace=False)

    def kernel_set(
        self, residual: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows = self._sample(ROWS_FOR_KERNEL)
        return self.features[rows], residual[rows], weight[rows]

    def finished(self, time_kernel: Kernel, power_kernel: Kernel) -> ReferenceFit:
        level = LEVELLED * self.theta[:LEVELLED_TIMES].max()
        return ReferenceFit(
            self.measured.name,
            self.measured.kind,
            self.measured.maximum,
            self.theta - level,
            self.phi,
            self._surface(time_kernel, self.time_residual, self.time_weight),
            self._surface(power_kernel, self.power_residual, self.power_weight),
        )

    def _surface(self, kernel: Kernel, residual: FloatArray, weight: FloatArray) -> Surface:
        rows = self._sample(ROWS_FOR_SURFACE)
        at = self.features[rows]
        covariance = kernel.covariance(at, at) + np.diag(kernel.noise / weight[rows])
        coefficients = cho_solve(cho_factor(covariance, lower=True), residual[rows])
        off = residual - smooth_mean(kernel, at, coefficients, self.features)
        odd = np.abs(off) > ANOMALY_SDS * np.sqrt(kernel.noise)
        return Surface(at, coefficients, self.features[odd], off[odd])


def _weights(residual: FloatArray, sd: float) -> FloatArray:
    """Precision weights against the table's own spread (or `sd`, if larger): a formula that fits badly
    must not call a whole regime doubtful."""
    spread = max(sd, SD_PER_MEDIAN * float(np.median(np.abs(residual))))
    return precision_weights(residual, np.zeros_like(residual), spread**2)


def _robust_fit(
    curve: Curve,
    observed: FloatArray,
    prior: ParameterPrior,
    sd: float,
    rng: np.random.Generator,
    smooth: FloatArray | None = None,
) -> FloatArray:
    """Best parameters under contaminated normal errors, by iteratively reweighted least squares.

    smooth: covariance (n, n) of what the formula leaves over, beside these errors.
    """
    weight = np.ones(len(observed))
    for _ in range(1 + REWEIGHTINGS):
        error = sd**2 / weight if smooth is None else smooth + np.diag(sd**2 / weight)
        fits = fit_members(curve, observed, prior, error, STARTS, rng, disturb=False)
        best = fits.theta[fits.best]
        weight = _weights(observed - curve(best[None], np.zeros(1, dtype=int))[0][0], sd)
    return best
