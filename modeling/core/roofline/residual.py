"""What the formula leaves over: a small Gaussian process over the knobs (Rasmussen and Williams, GPML, 2006).

Kernel: s^2 prod_d (1 + a_d Matern-5/2(|x_d - x'_d| / l_d)), an analysis-of-variance kernel: main effects
and all interactions (Duvenaud et al., Additive Gaussian processes, 2011). Inputs are logs of relative
knobs in units of about one standard deviation of a board's own grid.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from modeling.core.prediction import FloatArray
from modeling.core.roofline.formula import Settings

# sd of ln(knob / maximum) over the AGX Orin grid: cores, CPU, GPU, memory; then ln minibatch over 1…64
FEATURE_SCALES = np.array([0.62, 0.62, 0.75, 1.1, 1.5])
DIMENSIONS = len(FEATURE_SCALES)
# log-normal hyper-prior: variance and noise variance (2 %)^2, lengths 1, weights e^-1
VARIANCE_MEAN, VARIANCE_SD = np.log(0.02**2), 1.5
LENGTH_MEAN, LENGTH_SD = 0.0, 0.7
WEIGHT_MEAN, WEIGHT_SD = -1.0, 1.0
NOISE_MEAN, NOISE_SD = np.log(0.02**2), 1.0


def features(at: Settings) -> FloatArray:
    """Kernel inputs (modes, 5), without unit."""
    columns = (at.core_log, at.cpu_log, at.gpu_log, at.mem_log, at.batch_log)
    return np.concatenate(columns).T / FEATURE_SCALES


@dataclass(frozen=True)
class Kernel:
    """Hyperparameters as logarithms: variance, lengths (5,), weights (5,), noise variance of one
    measurement."""

    log_variance: float
    log_lengths: FloatArray
    log_weights: FloatArray
    log_noise: float

    @classmethod
    def generic(cls) -> "Kernel":
        ones = np.ones(DIMENSIONS)
        return cls(VARIANCE_MEAN, LENGTH_MEAN * ones, WEIGHT_MEAN * ones, NOISE_MEAN)

    @classmethod
    def from_vector(cls, vector: FloatArray) -> "Kernel":
        lengths, weights = vector[1 : 1 + DIMENSIONS], vector[1 + DIMENSIONS : 1 + 2 * DIMENSIONS]
        return cls(float(vector[0]), np.array(lengths), np.array(weights), float(vector[-1]))

    def vector(self) -> FloatArray:
        return np.r_[self.log_variance, self.log_lengths, self.log_weights, self.log_noise]

    @property
    def noise(self) -> float:
        return float(np.exp(self.log_noise))

    @property
    def prior_variance(self) -> float:
        return float(np.exp(self.log_variance) * np.prod(1 + np.exp(self.log_weights)))

    def scaled(self, variance: float = 0.0, length: float = 0.0, noise: float = 0.0) -> "Kernel":
        """The same with log variance, log lengths and log noise shifted."""
        return replace(
            self,
            log_variance=self.log_variance + variance,
            log_lengths=self.log_lengths + length,
            log_noise=self.log_noise + noise,
        )

    def covariance(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Covariance (n, m) of the residual at features left (n, 5) and right (m, 5), noise not included."""
        out = np.full((len(left), len(right)), np.exp(self.log_variance))
        for d in range(DIMENSIONS):
            # Clocks take few values, so the transcendental part is computed once per pair of values.
            rows, row_of = np.unique(left[:, d], return_inverse=True)
            columns, column_of = np.unique(right[:, d], return_inverse=True)
            factor = self.factor(d, rows, columns)
            out *= factor[:, column_of][row_of] if factor.shape != (1, 1) else factor
        return out

    def factor(self, dimension: int, left: FloatArray, right: FloatArray) -> FloatArray:
        """The kernel's factor (n, m) of one dimension, for values left (n,) and right (m,)."""
        length = np.exp(self.log_lengths[dimension])
        return 1 + np.exp(self.log_weights[dimension]) * matern(left, right, length)


def matern(left: FloatArray, right: FloatArray, length: float) -> FloatArray:
    """Matern-5/2 correlation (n, m) of two sets of numbers."""
    r = np.sqrt(5) * np.abs(left[:, None] - right[None]) / length
    return (1 + r + r * r / 3) * np.exp(-r)


def smooth_mean(kernel: Kernel, rows: FloatArray, coefficients: FloatArray, wanted: FloatArray) -> FloatArray:
    """kernel(wanted, rows) @ coefficients, shape (m,), quickly for tables on a grid of knob values.

    The kernel is a product over knobs, so the sum over the rows is done knob by knob on the grid of their
    values.
    """
    values, places = zip(*(np.unique(column, return_inverse=True) for column in rows.T), strict=True)
    targets, target_places = zip(
        *(np.unique(column, return_inverse=True) for column in wanted.T), strict=True
    )
    grid = np.zeros([len(v) for v in values])
    np.add.at(grid, places, coefficients)
    for d in range(DIMENSIONS):
        grid = np.moveaxis(np.tensordot(kernel.factor(d, targets[d], values[d]), grid, axes=(1, d)), 0, d)
    return np.exp(kernel.log_variance) * grid[target_places]


def condition(
    kernel: Kernel, known: FloatArray, noise: FloatArray, residuals: FloatArray, wanted: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Residual surface given some of it: mean (members, m) for residuals (members, n), and variance (m,).

    known (n, 5) and wanted (m, 5) are features; noise (n,) the noise variance of each measurement.
    """
    factor = np.linalg.cholesky(kernel.covariance(known, known) + np.diag(noise))
    whitened = np.linalg.inv(factor) @ kernel.covariance(known, wanted)
    mean = residuals @ np.linalg.inv(factor).T @ whitened
    return mean, np.maximum(kernel.prior_variance - (whitened**2).sum(axis=0), 0.0)


def learn(sets: list[tuple[FloatArray, FloatArray, FloatArray]], iterations: int = 60) -> Kernel:
    """Maximum a posteriori kernel for several (features (n, 5), residuals (n,), noise weights (n,)) at once.

    A noise weight below one marks a doubtful measurement: its noise variance is divided by it.
    """
    start = Kernel.generic().vector()
    sd = np.r_[VARIANCE_SD, [LENGTH_SD] * DIMENSIONS, [WEIGHT_SD] * DIMENSIONS, NOISE_SD]

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        value, slope = 0.5 * np.sum(((vector - start) / sd) ** 2), (vector - start) / sd**2
        for entry in sets:
            loss, gradient = _negative_log_evidence(Kernel.from_vector(vector), *entry)
            value, slope = value + loss, slope + gradient
        return value, slope

    bounds = [(low, low + 8) for low in np.r_[start[0] - 5, start[1:-1] - 4, start[-1] - 5]]
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": iterations}
    )
    return Kernel.from_vector(found.x)


def _negative_log_evidence(
    kernel: Kernel, at: FloatArray, residual: FloatArray, weight: FloatArray
) -> tuple[float, FloatArray]:
    """-ln p(residual) up to a constant, and its gradient by the kernel's vector (GPML eqs. 5.8, 5.9)."""
    smooth = kernel.covariance(at, at)
    factor = cho_factor(smooth + np.diag(kernel.noise / weight + 1e-8), lower=True)
    inverse = cho_solve(factor, np.eye(len(at)))
    alpha = inverse @ residual
    sensitivity = 0.5 * (inverse - np.outer(alpha, alpha))
    slope = [np.sum(sensitivity * smooth)]
    by_length, by_weight = [], []
    for d in range(DIMENSIONS):
        length, a = np.exp(kernel.log_lengths[d]), np.exp(kernel.log_weights[d])
        r = np.sqrt(5) * np.abs(at[:, [d]] - at[:, d]) / length
        decay = np.exp(-r)
        correlation = (1 + r + r * r / 3) * decay
        shared = sensitivity * smooth * a / (1 + a * correlation)
        by_length.append(np.sum(shared * (r * r * (1 + r) / 3) * decay))
        by_weight.append(np.sum(shared * correlation))
    noise = np.sum(np.diag(sensitivity) * kernel.noise / weight)
    value = 0.5 * residual @ alpha + np.log(np.diag(factor[0])).sum()
    return float(value), np.r_[slope, by_length, by_weight, noise]
