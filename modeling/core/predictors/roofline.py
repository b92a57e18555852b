"""The product's own method: a roofline formula, a residual process and an ensemble (docs/science.md,
Roofline)."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from modeling.core.prediction import FloatArray, IntArray, Measured, Prediction
from modeling.core.predictors.base import BasePredictor, Card, Tensors
from modeling.core.roofline.belief import belief_for
from modeling.core.roofline.corpus import CorpusFit, fit_corpus
from modeling.core.roofline.state import pack, unpack
from modeling.core.roofline.workload import FittedWorkload, fit_workload

FEW_MODES = 2
# How far ln power of a workload lies off its references' beyond what the ensemble says, by the number of
# measured modes: from none the power of the public tables is off by 16 to 20 %.
WORKLOADS_DIFFER_SD = (0.25, 0.08)
# The ensemble costs the cube of the rows; a random few hundred of a larger table say nearly as much.
MAX_ROWS = 400
# A residual this much stronger (ln variance) than the references' says the formula does not suit the
# workload.
BAD_FIT_SHIFT = 2.0


class RooflinePredictor(BasePredictor):
    """Works without references, with some of the same device model, or with foreign ones.

    prepared: a CorpusFit. From no mode at all it gives the prior's relative times and its power, widely,
    and says so.
    """

    method = "roofline"

    @classmethod
    def prepare(cls, corpus: Sequence[Measured], seed: int = 0) -> CorpusFit:
        return fit_corpus(corpus, seed)

    def fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> Self:
        """As the base says; no mode at all is allowed where board_maximum is given: knobs (0, 4 or 5)."""
        knobs = np.asarray(knobs)
        if not len(knobs) and knobs.ndim == 2 and self.board_maximum is not None:
            self.width_ = knobs.shape[1]
            self.maximum_ = np.array(self.board_maximum, dtype=float)
            self._fit(knobs.astype(np.int64), np.zeros(0), np.zeros(0))
            return self
        return super().fit(knobs, time_ms, power_mw)

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        corpus = self.prepared if self.prepared is not None else self.prepare(self.corpus, self.seed)
        belief = belief_for(corpus, self.maximum_, self.kind)
        if len(knobs) > MAX_ROWS:
            rows = np.random.default_rng(self.seed).choice(len(knobs), MAX_ROWS, replace=False)
            knobs, time_ms, power_mw = knobs[rows], time_ms[rows], power_mw[rows]
        self.workload_ = fit_workload(belief, knobs, time_ms, power_mw, self.seed)

    def _predict(self, knobs: IntArray) -> Prediction:
        logs = self.workload_.predict(knobs)
        power, count = np.exp(logs.power) * 1000, len(self.workload_.knobs)
        differ = WORKLOADS_DIFFER_SD[count] if count < len(WORKLOADS_DIFFER_SD) else 0.0
        return Prediction(
            np.exp(logs.time), power, logs.time_sd, np.hypot(logs.power_sd, differ), self._notes()
        )

    def _notes(self) -> tuple[str, ...]:
        count, foreign = len(self.workload_.knobs), self.workload_.belief.foreign
        notes = []
        if not count:
            notes.append("no mode measured: times are relative only, their level is unknown")
        elif count <= FEW_MODES:
            notes.append(f"only {count} measured: which part of the board limits the time is still open")
        if foreign:
            notes.append("the references are from another device model: only their shapes are used")
        notes += [f"the formula fits the {name} badly" for name in self.misfits()]
        return tuple(notes)

    def misfits(self) -> list[str]:
        shifts = self.workload_.misfit_shifts()
        return [name for name, shift in shifts.items() if shift > BAD_FIT_SHIFT]

    def _state(self) -> tuple[Tensors, Card]:
        arrays, card = pack(self.workload_)
        return arrays, {"workload": card}

    def _restore(self, tensors: Tensors, card: dict[str, Any]) -> None:
        self.workload_ = unpack(FittedWorkload, tensors, card["workload"])
