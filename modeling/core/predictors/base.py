"""What all predictors share: a constructor that only stores, and checks of what is fitted and asked."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from modeling.core.prediction import (
    KNOB_COLUMNS,
    FloatArray,
    IntArray,
    Measured,
    NotFitted,
    Prediction,
    present,
)

Tensors = dict[str, np.ndarray]
Card = dict[str, Any]
# What a method without a lower bound of its own may predict at least, relative to the least value measured.
FLOOR = 0.1


class BasePredictor:
    """scikit-learn's contract. A child sets `method` and defines `_fit`, `_predict`, `_state`, `_restore`.

    corpus: measurements of other workloads to learn from. seed: of every random draw. board_maximum: the
    board's largest cores, cpu_khz, gpu_khz, mem_khz; without it the largest measured values stand for it.
    prepared: what `prepare` made of the same corpus; without it `fit` prepares itself. kind: the target's,
    training or inference.
    """

    method: ClassVar[str]
    needs_reference: ClassVar[bool] = False

    def __init__(
        self,
        corpus: Sequence[Measured] = (),
        seed: int = 0,
        board_maximum: tuple[int, int, int, int] | None = None,
        prepared: Any = None,
        kind: str = "training",
    ) -> None:
        self.corpus = corpus
        self.seed = seed
        self.board_maximum = board_maximum
        self.prepared = prepared
        self.kind = kind

    @classmethod
    def prepare(cls, corpus: Sequence[Measured], seed: int = 0) -> Any:
        """What can be learned from the corpus alone, once for many fits; None where that is nothing."""
        return None

    def misfits(self) -> list[str]:
        """Of "time" and "power", what a fitted predictor of a fixed form fits badly; learned forms none."""
        return []

    def fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> Self:
        """Learn from n measured modes: knobs int (n, 4 or 5), time_ms and power_mw float (n,).

        ValueError where shapes differ, a value is not a positive number, or a reference lacks that is needed.
        """
        if self.needs_reference and not self.corpus and self.prepared is None:
            raise ValueError(f"{self.method} needs a reference workload: give one in corpus")
        knobs, time, power = checked(knobs, time_ms, power_mw)
        knobs = present(knobs)
        self.width_ = knobs.shape[1]
        self.maximum_ = np.maximum(self.board_maximum or knobs[:, : len(KNOB_COLUMNS)].max(axis=0), 1.0)
        self._fit(knobs, time, power)
        return self

    def predict(self, knobs: IntArray) -> Prediction:
        """Time and power of m modes: knobs int (m, same columns as fitted)."""
        if not hasattr(self, "width_"):
            raise NotFitted(f"fit this {self.method} predictor first")
        knobs = np.asarray(knobs)
        if knobs.ndim != 2 or knobs.shape[1] != self.width_:
            raise ValueError(f"knobs of shape {knobs.shape} given to a predictor of {self.width_} columns")
        return self._predict(present(knobs))

    def to_state(self) -> tuple[Tensors, Card]:
        """What was learned, as arrays and a JSON-able card: enough for `from_state` to predict the same."""
        if not hasattr(self, "width_"):
            raise NotFitted(f"fit this {self.method} predictor first")
        tensors, card = self._state()
        card |= {"method": self.method, "seed": self.seed, "width": self.width_}
        return tensors | {"maximum": self.maximum_}, card

    @classmethod
    def from_state(cls, tensors: Mapping[str, np.ndarray], card: Card) -> Self:
        """A fitted predictor again; its corpus is not kept, so it predicts but is not fitted anew."""
        predictor = cls(seed=card["seed"])
        predictor.width_, predictor.maximum_ = card["width"], np.asarray(tensors["maximum"])
        predictor._restore(dict(tensors), card)
        return predictor

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        raise NotImplementedError

    def _predict(self, knobs: IntArray) -> Prediction:
        raise NotImplementedError

    def _state(self) -> tuple[Tensors, Card]:
        raise NotImplementedError

    def _restore(self, tensors: Tensors, card: Card) -> None:
        raise NotImplementedError


def checked(
    knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The same as arrays; ValueError naming what is wrong with them."""
    knobs, time, power = np.asarray(knobs), np.asarray(time_ms, float), np.asarray(power_mw, float)
    if knobs.ndim != 2 or knobs.shape[1] not in (4, 5):
        raise ValueError(f"knobs have shape {knobs.shape}, expected (n, 4) or (n, 5)")
    if not len(knobs):
        raise ValueError("no measured mode: at least one is needed")
    for name, values in (("time_ms", time), ("power_mw", power)):
        if values.shape != (len(knobs),):
            raise ValueError(f"{name} has shape {values.shape}, expected ({len(knobs)},)")
        if not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(f"{name} has values that are not positive numbers")
    if (knobs < 0).any() or not ((knobs > 0) | (knobs == 0).all(axis=0)).all():
        raise ValueError("knobs have values that are not positive; 0 is only for a knob that the board lacks")
    return knobs.astype(np.int64), time, power
