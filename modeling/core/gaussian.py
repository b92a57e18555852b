"""Gaussian process regression, hyperparameters by evidence (Rasmussen & Williams 2006, chapters 2 and 5)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from modeling.core.prediction import FloatArray

LEVEL_SD = 3.0  # of the unknown constant, in units of y (ln): a factor of 20 either way
CHUNK = 4096  # rows predicted at once, to bound memory
MAX_STEPS = 80


@dataclass(frozen=True)
class Prior:
    """Log-normal priors of the hyperparameters: medians, and sds of their logarithms.

    amplitude, noise: in units of y. slope: sd of the linear weights per unit of an input. length: in units
    of an input, the same for each.
    """

    amplitude: float
    noise: float
    slope: float
    length: float
    sds: tuple[float, float, float, float] = (1.0, 0.7, 0.7, 0.8)

    def of_log(self, inputs: int) -> tuple[FloatArray, FloatArray]:
        """Means and sds of the log hyperparameters amplitude, noise, slope, length x inputs."""
        medians = np.r_[self.amplitude, self.noise, self.slope, np.full(inputs, self.length)]
        return np.log(medians), np.r_[self.sds[:3], np.full(inputs, self.sds[3])]


class GaussianProcess:
    """y(x) = level + linear(x) + smooth(x) + noise, given n rows x (n, d) and y (n,).

    smooth has the kernel a² Π_d Matérn5/2(x_d; length_d). The hyperparameters are those of the highest
    posterior density: marginal likelihood times prior, by L-BFGS from the prior's medians.
    """

    def __init__(self, prior: Prior) -> None:
        self.prior = prior

    def fit(self, x: FloatArray, y: FloatArray) -> Self:
        """x (n, d), y (n,): search the hyperparameters, then condition on the rows (R&W §5.4.1)."""
        mean, sd = self.prior.of_log(x.shape[1])
        centre = y.mean()
        found = minimize(
            lambda h: _negative_log_posterior(h, x, y - centre, mean, sd),
            mean,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(mean - 4 * sd, mean + 4 * sd, strict=True)),
            options={"maxiter": MAX_STEPS},
        )
        return self.condition(x, y, found.x)

    def condition(self, x: FloatArray, y: FloatArray, log_hyper: FloatArray) -> Self:
        """Take these hyperparameters instead of searching for them."""
        self.x_, self.y_, self.log_hyper_ = x, y, log_hyper
        self.centre_ = y.mean()
        noise = np.exp(2 * log_hyper[1])
        self.root_ = cholesky(_kernel(log_hyper, x, x) + noise * np.eye(len(y)), lower=True)
        self.weights_ = cho_solve((self.root_, True), y - self.centre_)
        return self

    def predict(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and sd (m,) of a new measurement, its noise included, at x (m, d)."""
        parts = [self._predict(x[start : start + CHUNK]) for start in range(0, len(x), CHUNK)]
        return np.concatenate([m for m, _ in parts]), np.concatenate([sd for _, sd in parts])

    def _predict(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        cross = _kernel(self.log_hyper_, self.x_, x)
        explained = solve_triangular(self.root_, cross, lower=True)
        amplitude, noise, slope = np.exp(2 * self.log_hyper_[:3])
        prior = amplitude + slope * (x**2).sum(axis=1) + LEVEL_SD**2
        variance = np.maximum(prior - (explained**2).sum(axis=0), 0) + noise
        return self.centre_ + self.weights_ @ cross, np.sqrt(variance)


def _kernel(log_hyper: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Covariance (n, m) of the noise-free y at a (n, d) and b (m, d)."""
    smooth = np.exp(2 * log_hyper[0]) * np.prod(_materns(log_hyper, a, b)[0], axis=0)
    return smooth + np.exp(2 * log_hyper[2]) * (a @ b.T) + LEVEL_SD**2


def _materns(log_hyper: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Matérn 5/2 correlations (d, n, m) per input, and their derivatives by log length over themselves."""
    lengths = np.exp(log_hyper[3:])[:, None, None]
    r = np.sqrt(5) * np.abs(a.T[:, :, None] - b.T[:, None, :]) / lengths
    polynomial = 1 + r + r**2 / 3
    return polynomial * np.exp(-r), r**2 * (1 + r) / 3 / polynomial


def _negative_log_posterior(
    log_hyper: FloatArray, x: FloatArray, y: FloatArray, mean: FloatArray, sd: FloatArray
) -> tuple[float, FloatArray]:
    """-ln p(y | hyper) p(hyper) up to a constant, and its gradient (R&W eq. 5.8, 5.9)."""
    materns, per_length = _materns(log_hyper, x, x)
    amplitude, noise, slope = np.exp(2 * log_hyper[:3])
    smooth, linear = amplitude * np.prod(materns, axis=0), slope * (x @ x.T)
    root = cholesky(smooth + linear + LEVEL_SD**2 + noise * np.eye(len(y)), lower=True)
    weights = cho_solve((root, True), y)
    pull = cho_solve((root, True), np.eye(len(y))) - np.outer(weights, weights)
    by_hyper = [2 * np.sum(pull * smooth), 2 * noise * np.trace(pull), 2 * np.sum(pull * linear)]
    gradient = np.r_[by_hyper, np.einsum("ij,dij->d", pull * smooth, per_length)] / 2
    off = (log_hyper - mean) / sd
    value = (y @ weights) / 2 + np.log(np.diag(root)).sum() + (off @ off) / 2
    return value, gradient + off / sd
