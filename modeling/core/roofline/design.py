"""Which modes to measure next: those that lower the mean variance of all predictions most, per minute of
profiling.

Active learning Cohn (MacKay, Neural Comput. 4, 1992; Cohn, Ghahramani, Jordan, JAIR 4, 1996), for ln time
and ln power at once. The formula is linear around a parameter vector, so measuring a mode lowers variances
by a known amount whatever the value measured. As nobody knows which vector, several stand side by side
(draws of the prior, later members of the ensemble), and the relative gains are averaged over them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modeling.core.prediction import FloatArray, IntArray
from modeling.core.roofline.belief import Belief
from modeling.core.roofline.corpus import power_curve, time_curve
from modeling.core.roofline.ensemble import Curve
from modeling.core.roofline.formula import settings, time_parts
from modeling.core.roofline.priors import LEVELLED, TIME_LEVEL_SD, ParameterPrior
from modeling.core.roofline.residual import Kernel, features
from modeling.core.roofline.workload import POWERS, TIMES, FittedWorkload, with_surfaces

PRIOR_DRAWS = 12
MEMBERS = 8
COST_EXPONENT = 0.3  # 0 ignores profiling time, 1 counts gain per minute
# What learning about time counts for in a choice, and power the rest: time is learned beside it, as the
# shares of time are what power depends on, but not the other way round.
TIME_SHARE = 0.35


@dataclass
class Uncertainty:
    """What is not known at some modes, for several parameter vectors and both quantities (views): covariances
    (views, modes, modes), noise variance (views,), and the expected time (modes,) in ms, up to a factor."""

    covariances: FloatArray
    noises: FloatArray
    time: FloatArray

    def observe(self, *places: int) -> None:
        """Condition on a measurement of each of the modes in these places."""
        for place in places:
            column = self.covariances[:, :, place].copy()
            scaled = column / (column[:, [place]] + self.noises[:, None])
            self.covariances -= column[:, :, None] * scaled[:, None, :]

    def gains(self, candidates: int, weights: FloatArray) -> FloatArray:
        """Share of the weighted mean variance at the modes behind the first `candidates` that measuring
        each of these would remove, averaged over the views of time and those of power."""
        variance = np.einsum("vii->vi", self.covariances)
        removed = (self.covariances[:, :candidates, candidates:] ** 2) @ weights
        left = variance[:, candidates:] @ weights + self.noises
        share = removed / (variance[:, :candidates] + self.noises[:, None]) / left[:, None]
        time, power = share.reshape(2, -1, candidates).mean(axis=1)
        return TIME_SHARE * time + (1 - TIME_SHARE) * power

    def error(self, candidates: int, weights: FloatArray) -> tuple[float, float]:
        """Root mean variance of ln time and ln power at the modes behind the candidates."""
        variance = np.einsum("vii->vi", self.covariances)[:, candidates:] @ weights
        time, power = variance.reshape(2, -1).mean(axis=1)
        return float(np.sqrt(time)), float(np.sqrt(power))


def before_measuring(belief: Belief, knobs: IntArray, rng: np.random.Generator) -> Uncertainty:
    """At knobs (modes, 4 or 5), by draws of the prior beside its mean and the references' own parameters."""
    extra = len(belief.time.mean) - TIMES
    level = np.r_[LEVELLED, np.zeros(extra)]
    unlevelled = belief.time.covariance - TIME_LEVEL_SD**2 * np.outer(level, level)
    thetas = [belief.time.mean, *_draws(ParameterPrior(belief.time.mean, unlevelled), rng)]
    phis = [belief.power.mean, *_draws(belief.power, rng)]
    thetas += [np.r_[reference.theta, belief.time.mean[TIMES:]] for reference in belief.references]
    phis += [np.r_[reference.phi, belief.power.mean[POWERS:]] for reference in belief.references]
    return _linearised(
        belief, knobs, np.array(thetas), np.array(phis), belief.time_kernel, belief.power_kernel
    )


def _draws(prior: ParameterPrior, rng: np.random.Generator) -> FloatArray:
    return (
        prior.mean + rng.normal(size=(PRIOR_DRAWS, len(prior.mean))) @ np.linalg.cholesky(prior.covariance).T
    )


def after_measuring(fitted: FittedWorkload, knobs: IntArray) -> Uncertainty:
    """At knobs (modes, 4 or 5), by the best members of the ensemble, which know the prior alone: the
    measured modes are still to be observed.

    The residual kernels are the references', not those rescaled on the few modes measured so far: one odd
    mode would send the choice after residuals before the parameters are known.
    """
    best = np.argsort(fitted.time.fits.own_cost)[:MEMBERS]
    thetas, phis = fitted.time.fits.theta[best], fitted.power.fits.theta[best]
    belief = fitted.belief
    return _linearised(belief, knobs, thetas, phis, belief.time_kernel, belief.power_kernel)


def _linearised(
    belief: Belief,
    knobs: IntArray,
    thetas: FloatArray,
    phis: FloatArray,
    time_kernel: Kernel,
    power_kernel: Kernel,
) -> Uncertainty:
    at = settings(knobs, belief.maximum)
    time_surfaces, power_surfaces = belief.surfaces(knobs)
    parts = time_parts(thetas[:, :TIMES], at)
    timing = with_surfaces(time_curve(at), TIMES, time_surfaces)
    powering = with_surfaces(power_curve(at, parts), POWERS, power_surfaces)
    place = features(at)
    time, power = (
        _spread(curve, vectors, prior) + kernel.covariance(place, place)
        for curve, vectors, prior, kernel in (
            (timing, thetas, belief.time, time_kernel),
            (powering, phis, belief.power, power_kernel),
        )
    )
    noises = np.repeat([time_kernel.noise, power_kernel.noise], len(thetas))
    relative = parts.time.value - parts.time.value.mean(axis=1, keepdims=True)
    return Uncertainty(np.concatenate([time, power]), noises, np.exp(relative).mean(axis=0))


def _spread(curve: Curve, vectors: FloatArray, prior: ParameterPrior) -> FloatArray:
    """Covariance (vectors, modes, modes) that the prior's uncertainty gives the curve, linear around each
    vector."""
    _, slope = curve(vectors, np.arange(len(vectors)))
    return slope.transpose(0, 2, 1) @ prior.covariance @ slope


def greedy(
    uncertainty: Uncertainty,
    candidates: int,
    count: int,
    taken: Sequence[int],
    weights: FloatArray,
    cost_exponent: float = COST_EXPONENT,
) -> list[int]:
    """Places of `count` of the first `candidates` modes, one after the other, none of them in `taken`.

    All chosen ones are observed; weights (modes - candidates,): how much each of the modes behind the
    candidates matters, summing to one.
    """
    cost = uncertainty.time[:candidates] ** cost_exponent
    chosen: list[int] = []
    for _ in range(count):
        worth = uncertainty.gains(candidates, weights) / cost
        worth[[*taken, *chosen]] = -np.inf
        chosen.append(int(np.argmax(worth)))
        uncertainty.observe(chosen[-1])
    return chosen
