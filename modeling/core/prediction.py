"""The words of the numerical core: what predictors take, and what they answer."""

from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

KNOB_COLUMNS = ("cores", "cpu_khz", "gpu_khz", "mem_khz")
WORKLOAD_COLUMNS = ("minibatch",)


class NotFitted(RuntimeError):
    """`predict` was called before `fit`."""


@dataclass(frozen=True)
class Measured:
    """Measurements of one workload on one kind of board: one row a mode.

    knobs: int (n, 4) cores, cpu_khz, gpu_khz, mem_khz; or (n, 5) with the minibatch size as fifth column.
    time_ms: float (n,) per minibatch. power_mw: float (n,) mean total power.
    kind: "training" or "inference". board_maximum: the board's largest value of the four knobs, where
    known; else the table's own maxima stand for it.
    """

    name: str
    knobs: IntArray
    time_ms: FloatArray
    power_mw: FloatArray
    kind: str = "training"
    board_maximum: tuple[int, int, int, int] | None = None

    @property
    def maximum(self) -> FloatArray:
        """Largest value of each of the four knobs, shape (4,); 1 for a knob the board lacks."""
        return np.maximum(self.board_maximum or self.knobs[:, :4].max(axis=0), 1.0)

    def __len__(self) -> int:
        return len(self.time_ms)


@dataclass(frozen=True)
class Prediction:
    """What a predictor says of n modes.

    time_ms (n,) per minibatch; power_mw (n,). time_log_sd, power_log_sd (n,): standard deviations of
    ln time and ln power (about the relative error), or None where the method knows none.
    """

    time_ms: FloatArray
    power_mw: FloatArray
    time_log_sd: FloatArray | None = None
    power_log_sd: FloatArray | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def energy_mj(self) -> FloatArray:
        """Energy of one minibatch in mJ: ms x mW = µJ."""
        return self.time_ms * self.power_mw / 1000

    @property
    def energy_log_sd(self) -> FloatArray | None:
        """Time and power errors taken as independent."""
        if self.time_log_sd is None or self.power_log_sd is None:
            return None
        return np.hypot(self.time_log_sd, self.power_log_sd)

    def at(self, rows: IntArray) -> "Prediction":
        """The prediction of some of the modes only: rows int (k,)."""
        sds = (self.time_log_sd, self.power_log_sd)
        time_sd, power_sd = (None if sd is None else sd[rows] for sd in sds)
        return Prediction(self.time_ms[rows], self.power_mw[rows], time_sd, power_sd, self.notes)


def present(knobs: IntArray) -> IntArray:
    """The same knobs, 1 for each 0: a board without a knob says 0 in every mode, and any constant will do."""
    return np.maximum(np.asarray(knobs), 1)


def relative(knobs: IntArray, maximum: FloatArray | None = None) -> FloatArray:
    """The four knobs of each mode as fractions of `maximum` (4,), else of the largest given; float (n, 4)."""
    four = present(np.asarray(knobs)[:, : len(KNOB_COLUMNS)])
    return four / (four.max(axis=0) if maximum is None else np.maximum(maximum, 1))


def has_minibatch(knobs: IntArray) -> bool:
    """Whether knobs (n, 4 or 5) have the minibatch size as fifth column."""
    return knobs.shape[1] > len(KNOB_COLUMNS)


def log_interval(centre: FloatArray, log_sd: FloatArray, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end of the central `level` interval of a log-normal quantity, in its own unit."""
    spread = ndtri(0.5 + level / 2) * log_sd
    return centre * np.exp(-spread), centre * np.exp(spread)


class Predictor(Protocol):
    """scikit-learn's contract: __init__ only stores, fit returns self, learned things end in _."""

    def fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> Self: ...

    def predict(self, knobs: IntArray) -> Prediction: ...
