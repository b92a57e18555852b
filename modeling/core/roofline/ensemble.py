"""Fitting the formula many times at once: batched Levenberg-Marquardt and the randomised-MAP ensemble.

Levenberg-Marquardt: Marquardt, SIAM J. 11, 1963. Randomised maximum a posteriori: each member fits data
and prior disturbed by their own uncertainty, so the members spread as the posterior does (Oliver, He,
Reynolds, 1996; Bardsley et al., SIAM J. Sci. Comput. 36, 2014).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeling.core.prediction import FloatArray, IntArray
from modeling.core.roofline.priors import ParameterPrior

# theta (members, parameters), member numbers -> values (members, n) and Jacobian (members, parameters, n)
Curve = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

FIRST_DAMPING = 1e-2
SMALLEST_CURVATURE = 1e-3
LONGEST_STEP = 2.0  # in log-parameters
CONVERGED = 1e-4  # relative drop of the cost
HOPELESS_DAMPING = 1e8


@dataclass
class Fits:
    """theta (members, parameters); cost (members,): the minimised sum of squares; own_cost (members,): the
    same on the undisturbed data and prior."""

    theta: FloatArray
    cost: FloatArray
    own_cost: FloatArray

    @property
    def best(self) -> int:
        return int(np.argmin(self.own_cost))


def levenberg_marquardt(
    curve: Curve, start: FloatArray, iterations: int = 40
) -> tuple[FloatArray, FloatArray]:
    """Minimise each member's sum of squares; returns theta (members, parameters) and cost (members,)."""
    theta = start.copy()
    residual, slope = curve(theta, np.arange(len(theta)))
    cost = (residual**2).sum(axis=1)
    damping = np.full(len(theta), FIRST_DAMPING)
    active = np.arange(len(theta))
    for _ in range(iterations):
        proposal = theta[active] + _steps(residual[active], slope[active], damping[active])
        new_residual, new_slope = curve(proposal, active)
        new_cost = np.nan_to_num((new_residual**2).sum(axis=1), nan=np.inf)
        better = new_cost < cost[active]
        settled = better & (cost[active] - new_cost < CONVERGED * (1 + cost[active]))
        moved = active[better]
        theta[moved], cost[moved] = proposal[better], new_cost[better]
        residual[moved], slope[moved] = new_residual[better], new_slope[better]
        damping[active] *= np.where(better, 0.3, 5.0)
        active = active[~(settled | (damping[active] > HOPELESS_DAMPING))]
        if not len(active):
            break
    return theta, cost


def _steps(residual: FloatArray, slope: FloatArray, damping: FloatArray) -> FloatArray:
    """Damped Gauss-Newton steps (members, parameters)."""
    normal = slope @ slope.transpose(0, 2, 1)
    diagonal = np.arange(normal.shape[1])
    normal[:, diagonal, diagonal] += damping[:, None] * np.maximum(
        normal[:, diagonal, diagonal], SMALLEST_CURVATURE
    )
    downhill = -(slope @ residual[:, :, None])
    return np.clip(np.linalg.solve(normal, downhill)[:, :, 0], -LONGEST_STEP, LONGEST_STEP)


def fit_members(
    curve: Curve,
    observed: FloatArray,
    prior: ParameterPrior,
    covariance: FloatArray,
    members: int,
    rng: np.random.Generator,
    disturb: bool = True,
) -> Fits:
    """Fit `members` copies to observed (n,) with measurement covariance (n, n), or variances (n,).

    Member 0 is undisturbed and starts at the prior mean; the others start at prior draws and, if
    `disturb`, fit disturbed data under a disturbed prior.
    """
    prior_factor = np.linalg.cholesky(prior.covariance)
    prior_whitener = np.linalg.inv(prior_factor)
    errors, whiten = _errors(covariance, members, rng)
    offsets = _draws(members, prior_factor, rng)
    data = observed + errors * disturb
    centre = prior.mean + offsets * disturb

    def whitened(
        theta: FloatArray, who: IntArray, data: FloatArray, centre: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        value, slope = curve(theta, who)
        residual = np.concatenate([whiten(value - data[who]), (theta - centre[who]) @ prior_whitener.T], 1)
        prior_slope = np.broadcast_to(prior_whitener.T, (len(theta), *prior_whitener.shape))
        return residual, np.concatenate([whiten(slope), prior_slope], 2)

    theta, cost = levenberg_marquardt(
        lambda theta, who: whitened(theta, who, data, centre), prior.mean + offsets
    )
    undisturbed = np.broadcast_to(observed, data.shape), np.broadcast_to(prior.mean, centre.shape)
    own, _ = whitened(theta, np.arange(members), *undisturbed)
    return Fits(theta, cost, (own**2).sum(axis=1))


def _errors(
    covariance: FloatArray, members: int, rng: np.random.Generator
) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """Draws (members, n) of measurement errors, and what makes such errors independent with variance 1."""
    if covariance.ndim == 1:
        sd = np.sqrt(covariance)
        return _draws(members, np.eye(len(sd)), rng) * sd, lambda values: values / sd
    factor = np.linalg.cholesky(covariance)
    whitener = np.linalg.inv(factor).T
    return _draws(members, factor, rng), lambda values: values @ whitener


def _draws(members: int, factor: NDArray[np.floating[Any]], rng: np.random.Generator) -> FloatArray:
    """Normal draws (members, n), the first all zero."""
    drawn = rng.normal(size=(members, len(factor))) @ factor.T
    drawn[0] = 0.0
    return drawn


def tempered_weights(cost: FloatArray, temper: float) -> FloatArray:
    """Weights (members,) proportional to exp(-temper cost / 2), summing to one."""
    weights = np.exp(-0.5 * temper * (cost - cost.min()))
    return weights / weights.sum()
