"""What "best" means: the quantity a choice of modes minimises."""

from typing import Literal, get_args

import numpy as np

from modeling.core.pareto import BoolArray, pareto_mask
from modeling.core.prediction import FloatArray, Prediction

Objective = Literal["fastest", "leanest", "least_energy", "weighted", "knee"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)


def costs(
    prediction: Prediction,
    objective: Objective,
    *,
    samples: FloatArray | float = 1.0,
    energy_weight: float = 0.5,
    among: BoolArray | None = None,
) -> FloatArray:
    """What the objective minimises, (n,), of an arbitrary scale.

    "weighted" is the linear cost of energy and time ("Energy of inference" eq. 6.1),
    w E/min E + (1 - w) T/min T, so
    that w is free of units. "knee" is the sum of log time and log power, each scaled to 0..1 over the front
    of the modes `among`: least where the front bends most, farthest from the line between its ends; modes
    off the front cost infinitely much.
    """
    time, energy = prediction.time_ms / samples, prediction.energy_mj / samples
    if objective == "fastest":
        return time
    if objective == "leanest":
        return prediction.power_mw
    if objective == "least_energy":
        return energy
    if objective == "weighted":
        if not 0 <= energy_weight <= 1:
            raise ValueError(f"energy_weight {energy_weight} is not between 0 and 1")
        return energy_weight * energy / energy.min() + (1 - energy_weight) * time / time.min()
    if objective == "knee":
        return _knee_cost(np.log(time), np.log(prediction.power_mw), among)
    raise ValueError(f"objective {objective!r} is not one of {', '.join(OBJECTIVES)}")


def _knee_cost(log_time: FloatArray, log_power: FloatArray, among: BoolArray | None) -> FloatArray:
    chosen = np.ones(len(log_time), dtype=bool) if among is None or not among.any() else among
    rows = np.flatnonzero(chosen)
    front = rows[pareto_mask(log_time[rows], log_power[rows])]
    cost = np.full(len(log_time), np.inf)
    cost[front] = _unit(log_time[front]) + _unit(log_power[front])
    return cost


def _unit(values: FloatArray) -> FloatArray:
    return (values - values.min()) / (np.ptp(values) or 1.0)
