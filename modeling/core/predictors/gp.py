"""A Gaussian process on ln time and ln power, with the reference workloads' surfaces as further inputs."""

import numpy as np

from modeling.core.features import LogSurface, log_knobs
from modeling.core.gaussian import GaussianProcess, Prior
from modeling.core.prediction import FloatArray, IntArray, Measured, Prediction
from modeling.core.predictors.base import BasePredictor, Card, Tensors

PRIORS = {
    "time": Prior(amplitude=0.3, noise=0.02, slope=0.3, length=1.5),
    "power": Prior(amplitude=0.15, noise=0.02, slope=0.3, length=1.5),
}
# How much of the references' mean shape a new workload is taken to share before anything is measured.
SHARED_SHAPE = 0.5
# A Gaussian process costs the cube of its rows; a random thousand of a larger table says as much.
MAX_ROWS = 1000


class GaussianProcessPredictor(BasePredictor):
    """Inputs: ln relative knobs, and each reference's ln time (for time) or ln power (for power) there.

    Works without references, with several, with references on other grids (interpolated) or from other
    boards (relative clocks). States an uncertainty.
    """

    method = "gp"

    def _fit(self, knobs: IntArray, time_ms: FloatArray, power_mw: FloatArray) -> None:
        if len(knobs) > MAX_ROWS:
            rows = np.random.default_rng(self.seed).choice(len(knobs), MAX_ROWS, replace=False)
            knobs, time_ms, power_mw = knobs[rows], time_ms[rows], power_mw[rows]
        self.references_ = tuple(self.corpus)
        self.knobs_, self.logs_ = knobs, np.log(np.column_stack([time_ms, power_mw]))
        self._learn_surfaces()
        shapes = self._shapes(knobs)
        self.processes_ = []
        for column, prior in enumerate(PRIORS.values()):
            inputs, shape = self._inputs(knobs, shapes, column)
            self.processes_.append(GaussianProcess(prior).fit(inputs, self.logs_[:, column] - shape))

    def _learn_surfaces(self) -> None:
        self.surfaces_ = [LogSurface(reference, self.width_) for reference in self.references_]
        logs = [np.log(np.column_stack([r.time_ms, r.power_mw])) for r in self.references_]
        self.levels_ = [values.mean(axis=0) for values in logs]
        self.spreads_ = [np.maximum(values.std(axis=0), 1e-3) for values in logs]

    def _shapes(self, knobs: IntArray) -> FloatArray:
        """Each reference's ln time and ln power about its mean, float (references, n, 2)."""
        found = [
            surface(knobs, self.maximum_) - level
            for surface, level in zip(self.surfaces_, self.levels_, strict=True)
        ]
        return np.array(found).reshape(len(found), len(knobs), 2)

    def _inputs(self, knobs: IntArray, shapes: FloatArray, column: int) -> tuple[FloatArray, FloatArray]:
        """Inputs (n, d) for time (column 0) or power (1), and the shared shape (n,) taken as mean."""
        own = log_knobs(knobs, self.maximum_)
        if not len(shapes):
            return own, np.zeros(len(knobs))
        spreads = np.array(self.spreads_)[:, column]
        scaled = shapes[:, :, column].T / spreads
        return np.column_stack([own, scaled]), SHARED_SHAPE * shapes[:, :, column].mean(axis=0)

    def _predict(self, knobs: IntArray) -> Prediction:
        shapes = self._shapes(knobs)
        (time, time_sd), (power, power_sd) = (self._quantity(knobs, shapes, column) for column in range(2))
        return Prediction(time, power, time_sd, power_sd)

    def _quantity(self, knobs: IntArray, shapes: FloatArray, column: int) -> tuple[FloatArray, FloatArray]:
        inputs, shape = self._inputs(knobs, shapes, column)
        mean, log_sd = self.processes_[column].predict(inputs)
        return np.exp(mean + shape), log_sd

    def _state(self) -> tuple[Tensors, Card]:
        tensors = {"knobs": self.knobs_, "logs": self.logs_}
        tensors["hyper"] = np.stack([process.log_hyper_ for process in self.processes_])
        for row, reference in enumerate(self.references_):
            tensors[f"reference{row}.knobs"] = reference.knobs
            tensors[f"reference{row}.values"] = np.column_stack([reference.time_ms, reference.power_mw])
            tensors[f"reference{row}.maximum"] = reference.maximum.astype(np.int64)
        return tensors, {"references": [reference.name for reference in self.references_]}

    def _restore(self, tensors: Tensors, card: Card) -> None:
        self.knobs_, self.logs_ = tensors["knobs"], tensors["logs"]
        self.references_ = tuple(
            _reference(tensors, row, name) for row, name in enumerate(card["references"])
        )
        self._learn_surfaces()
        shapes = self._shapes(self.knobs_)
        self.processes_ = []
        for column, prior in enumerate(PRIORS.values()):
            inputs, shape = self._inputs(self.knobs_, shapes, column)
            target = self.logs_[:, column] - shape
            process = GaussianProcess(prior).condition(inputs, target, tensors["hyper"][column])
            self.processes_.append(process)


def _reference(tensors: Tensors, row: int, name: str) -> Measured:
    time, power = tensors[f"reference{row}.values"].T
    cores, cpu, gpu, mem = (int(value) for value in tensors[f"reference{row}.maximum"])
    knobs = tensors[f"reference{row}.knobs"]
    return Measured(name, knobs, time, power, board_maximum=(cores, cpu, gpu, mem))
