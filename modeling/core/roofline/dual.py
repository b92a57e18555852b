"""Log-space numbers that carry their derivatives, so that one formula gives values and Jacobian.

Forward-mode differentiation (Griewank and Walther, Evaluating Derivatives, 2008, ch. 3): each number keeps a
dictionary {parameter index: derivative}. A plain float array counts as a constant.
"""

from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from modeling.core.prediction import FloatArray


@dataclass(frozen=True)
class Dual:
    """A value (members, modes) and its derivatives by parameter index, each broadcastable to the value."""

    value: FloatArray
    slope: dict[int, FloatArray] = field(default_factory=dict)

    def __add__(self, other: "Dual | FloatArray | float") -> "Dual":
        return weighted_sum(self.value + _value(other), (1.0, self), (1.0, other))

    def __sub__(self, other: "Dual | FloatArray | float") -> "Dual":
        return weighted_sum(self.value - _value(other), (1.0, self), (-1.0, other))

    def __mul__(self, other: "Dual | FloatArray | float") -> "Dual":
        return weighted_sum(self.value * _value(other), (_value(other), self), (self.value, other))

    def __truediv__(self, other: "Dual") -> "Dual":
        ratio = self.value / other.value
        return weighted_sum(ratio, (1 / other.value, self), (-ratio / other.value, other))


def _value(number: Dual | FloatArray | float) -> FloatArray | float:
    return number.value if isinstance(number, Dual) else number


def weighted_sum(value: FloatArray, *terms: tuple[FloatArray | float, Dual | FloatArray | float]) -> Dual:
    """`value` with the slopes of the terms added up, each times its weight (the chain rule)."""
    slope: dict[int, FloatArray] = {}
    for weight, term in terms:
        if isinstance(term, Dual):
            for index, derivative in term.slope.items():
                contribution = weight * derivative
                slope[index] = slope[index] + contribution if index in slope else contribution
    return Dual(value, slope)


def parameters(theta: FloatArray, differentiate: bool) -> list[Dual]:
    """The columns of theta (members, parameters) as duals of shape (members, 1)."""
    one = np.ones((1, 1))
    return [Dual(theta[:, [k]], {k: one} if differentiate else {}) for k in range(theta.shape[1])]


def exp(x: Dual) -> Dual:
    value = np.exp(x.value)
    return weighted_sum(value, (value, x))


def clip(x: Dual, low: float, high: float) -> Dual:
    """x held between low and high; flat outside."""
    inside = ((x.value > low) & (x.value < high)).astype(float)
    return weighted_sum(np.clip(x.value, low, high), (inside, x))


def softplus(x: Dual) -> Dual:
    """ln(1 + e^x): the factor 1 + e^x in log space."""
    return weighted_sum(np.logaddexp(0.0, x.value), (1 / (1 + np.exp(-x.value)), x))


def log_sum(*terms: Dual) -> Dual:
    """ln of the sum of e^term."""
    value = reduce(np.logaddexp, [term.value for term in terms])
    if not any(term.slope for term in terms):
        return Dual(value)
    return weighted_sum(value, *((np.exp(term.value - value), term) for term in terms))


def log_norm(power: Dual, *terms: Dual) -> Dual:
    """ln of the p-norm of e^term: the sum at p = 1, the largest as p grows."""
    return log_sum(*(term * power for term in terms)) / power


def jacobian(x: Dual, parameter_count: int) -> FloatArray:
    """Derivatives as one array (members, parameters, modes)."""
    members, modes = x.value.shape
    out = np.zeros((members, parameter_count, modes))
    for index, derivative in x.slope.items():
        out[:, index] = derivative
    return out
