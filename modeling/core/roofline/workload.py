"""A workload measured at a few modes, fitted: time first, then power given the time's shares."""

from dataclasses import dataclass

import numpy as np

from modeling.core.prediction import FloatArray, IntArray
from modeling.core.roofline.belief import SAME_MODE, Belief
from modeling.core.roofline.corpus import power_curve, time_curve
from modeling.core.roofline.ensemble import Curve
from modeling.core.roofline.formula import (
    POWER_PARAMETERS,
    TIME_PARAMETERS,
    Settings,
    log_power,
    settings,
    time_parts,
)
from modeling.core.roofline.posterior import MEAN_TEMPER, MEMBERS, QuantityFit, fit_quantity
from modeling.core.roofline.priors import LEVELLED, ParameterPrior
from modeling.core.roofline.residual import features

TIMES, POWERS = len(TIME_PARAMETERS), len(POWER_PARAMETERS)
TYPICAL_TIME_LOG = np.log(100.0)  # ms a minibatch, stands for the level while nothing is measured
CHUNK = 2048  # modes predicted at once, to stay in the cache


@dataclass
class LogPrediction:
    """Means and standard deviations (modes,) of ln ms and ln W."""

    time: FloatArray
    time_sd: FloatArray
    power: FloatArray
    power_sd: FloatArray


@dataclass
class FittedWorkload:
    """Ensembles for time and power, and the modes they were measured at."""

    belief: Belief
    knobs: IntArray
    time: QuantityFit
    power: QuantityFit

    def predict(self, knobs: IntArray) -> LogPrediction:
        chunks = [self._predict(knobs[start : start + CHUNK]) for start in range(0, len(knobs), CHUNK)]
        return LogPrediction(*(np.concatenate(column) for column in zip(*chunks, strict=True)))

    def _predict(self, knobs: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        at = settings(knobs, self.belief.maximum)
        known, wanted = features(settings(self.knobs, self.belief.maximum)), features(at)
        times, powers = self.curves(knobs, at)
        time, time_variance = self.time.combine(times, known, wanted, MEAN_TEMPER["time"])
        power, power_variance = self.power.combine(powers, known, wanted, MEAN_TEMPER["power"])
        same = np.all(np.abs(wanted[:, None] - known) < SAME_MODE, axis=2)
        measured = np.any(same, axis=1)
        time_doubt, power_doubt = (np.where(measured, 0.0, doubt) for doubt in self.belief.doubts(knobs))
        return time, np.sqrt(time_variance + time_doubt), power, np.sqrt(power_variance + power_doubt)

    def misfit_shifts(self) -> dict[str, float]:
        """How much the residual's ln variance had to grow over what the references left, by quantity."""
        belief = self.belief
        return {
            "time": self.time.kernel.log_variance - belief.time_kernel.log_variance,
            "power": self.power.kernel.log_variance - belief.power_kernel.log_variance,
        }

    def curves(self, knobs: IntArray, at: Settings) -> tuple[FloatArray, FloatArray]:
        """Each member's ln ms and ln W (members, modes), before its residual correction."""
        time_surfaces, power_surfaces = self.belief.surfaces(knobs)
        theta, phi = self.time.fits.theta, self.power.fits.theta
        parts = time_parts(theta[:, :TIMES], at)
        times = parts.time.value + theta[:, TIMES:] @ time_surfaces
        powers = log_power(phi[:, :POWERS], at, parts).value + phi[:, POWERS:] @ power_surfaces
        return times, powers


def with_surfaces(curve: Curve, own: int, surfaces: FloatArray) -> Curve:
    """A curve with weighted surfaces (surfaces, n) added, their weights behind its own parameters."""
    if not len(surfaces):
        return curve

    def extended(theta: FloatArray, who: IntArray) -> tuple[FloatArray, FloatArray]:
        value, slope = curve(theta[:, :own], who)
        more = np.broadcast_to(surfaces, (len(theta), *surfaces.shape))
        return value + theta[:, own:] @ surfaces, np.concatenate([slope, more], axis=1)

    return extended


def fit_workload(
    belief: Belief,
    knobs: IntArray,
    time_ms: FloatArray,
    power_mw: FloatArray,
    seed: int = 0,
    members: int = MEMBERS,
) -> FittedWorkload:
    """Fit measurements: knobs (n, 4 or 5), time_ms (n,), power_mw (n,); with n = 0 the ensemble is the
    prior."""
    rng = np.random.default_rng(seed)
    at = settings(knobs, belief.maximum)
    known = features(at)
    time_surfaces, power_surfaces = belief.surfaces(knobs)
    time_log, power_log = np.log(time_ms), np.log(np.asarray(power_mw) / 1000)
    curve = with_surfaces(time_curve(at), TIMES, time_surfaces)
    prior = levelled(belief.time, curve, time_log)
    time = fit_quantity(curve, curve, time_log, prior, belief.time_kernel, known, rng, members)
    parts = time_parts(time.fits.theta[:, :TIMES], at)
    many, single = (
        with_surfaces(power_curve(at, rows), POWERS, power_surfaces)
        for rows in (parts, parts.rows(np.array([time.fits.best])))
    )
    power = fit_quantity(many, single, power_log, belief.power, belief.power_kernel, known, rng, members)
    return FittedWorkload(belief, knobs, time, power)


def levelled(prior: ParameterPrior, curve: Curve, time_log: FloatArray) -> ParameterPrior:
    """The time prior moved to the level of the data: the mean log ratio to the prior's own curve."""
    if not len(time_log):
        return prior.shifted(TYPICAL_TIME_LOG * np.r_[LEVELLED, np.zeros(len(prior.mean) - TIMES)])
    level = np.mean(time_log - curve(prior.mean[None], np.zeros(1, dtype=int))[0][0])
    return prior.shifted(level * np.r_[LEVELLED, np.zeros(len(prior.mean) - TIMES)])
