"""What every predictor must do: subclass PredictorContract, name the method, inherit the exam."""

import inspect
from typing import Any

import numpy as np
import pytest

from modeling.core import artefact
from modeling.core.metrics import mape
from modeling.core.prediction import Measured, NotFitted, Prediction
from modeling.core.predictors import predictor_class
from modeling.core.predictors.base import BasePredictor
from tests.core.boards import MAXIMUM, MODES, some, with_minibatches, workload

REFERENCE = workload("reference", gpu=30, cpu=40)
TARGET = workload("target", gpu=60, cpu=25)


class PredictorContract:
    method: str
    worst_mape = 100.0  # %, time, from 40 of the 192 made-up modes

    def new(self, corpus: tuple[Measured, ...] = (REFERENCE,), seed: int = 0, **more: Any) -> BasePredictor:
        return predictor_class(self.method)(corpus=corpus, seed=seed, **{"board_maximum": MAXIMUM} | more)

    def fitted(self, count: int = 40, target: Measured = TARGET, **more: Any) -> BasePredictor:
        rows = some(target, count)
        return self.new(**more).fit(target.knobs[rows], target.time_ms[rows], target.power_mw[rows])

    def test_construction_only_stores(self) -> None:
        given = {"corpus": (REFERENCE,), "seed": 7, "board_maximum": MAXIMUM, "prepared": None}
        predictor = predictor_class(self.method)(**given)
        assert set(given) <= set(inspect.signature(type(predictor)).parameters)
        assert vars(predictor) == vars(predictor) | given
        assert not [name for name in vars(predictor) if name.endswith("_")]

    def test_predicting_early_is_refused(self) -> None:
        with pytest.raises(NotFitted):
            self.new().predict(MODES)
        with pytest.raises(NotFitted):
            self.new().to_state()

    def test_fit_returns_the_predictor(self) -> None:
        predictor = self.new()
        assert predictor.fit(TARGET.knobs[:12], TARGET.time_ms[:12], TARGET.power_mw[:12]) is predictor

    def test_predictions_are_positive_and_of_the_right_shape(self) -> None:
        p = self.fitted().predict(MODES[:17])
        arrays = [p.time_ms, p.power_mw, *(sd for sd in (p.time_log_sd, p.power_log_sd) if sd is not None)]
        assert all(
            array.shape == (17,) and np.isfinite(array).all() and (array > 0).all() for array in arrays
        )

    def test_it_learns_something(self) -> None:
        p = self.fitted().predict(MODES)
        assert mape(TARGET.time_ms, p.time_ms) < self.worst_mape

    def test_a_machine_with_cores_alone_to_turn_is_predicted(self) -> None:
        cores = np.arange(1, 9)
        knobs = np.column_stack([cores, np.full(8, 2_400_000), np.zeros((8, 2), dtype=int)])
        time_ms, power_mw = 5 + 80.0 / cores, 9_000 + 2_000.0 * cores
        predictor = self.new(board_maximum=(8, 2_400_000, 0, 0)).fit(knobs[::2], time_ms[::2], power_mw[::2])
        p = predictor.predict(knobs)
        assert np.isfinite([p.time_ms, p.power_mw]).all()
        assert (p.time_ms > 0).all()
        if self.method != "maxn":
            assert p.time_ms[0] > p.time_ms[-1]
        with pytest.raises(ValueError, match="lacks"):
            predictor.fit(np.array([[1, 1, 0, 1], [1, 1, 1, 1]]), time_ms[:2], power_mw[:2])

    def test_the_same_seed_gives_the_same_predictions(self) -> None:
        first, second = (self.fitted(seed=3).predict(MODES) for _ in range(2))
        assert_same(first, second)

    def test_a_fit_leaves_numpys_random_state_alone(self) -> None:
        np.random.seed(1)
        before = np.random.get_state()[1].tolist()  # type: ignore[index]
        self.fitted()
        assert np.random.get_state()[1].tolist() == before  # type: ignore[index]

    def test_an_artefact_predicts_the_same(self) -> None:
        predictor = self.fitted()
        assert_same(artefact.load(artefact.save(predictor)).predict(MODES), predictor.predict(MODES))

    def test_a_reference_on_a_part_of_the_grid_works(self) -> None:
        part = workload("part", modes=MODES[some(REFERENCE, 60)])
        assert len(self.fitted(corpus=(part,)).predict(MODES).time_ms) == len(MODES)

    def test_one_measured_mode_is_enough_to_answer(self) -> None:
        p = self.new().fit(TARGET.knobs[-1:], TARGET.time_ms[-1:], TARGET.power_mw[-1:]).predict(MODES)
        assert np.isfinite(p.time_ms).all()

    def test_repeated_modes_are_taken(self) -> None:
        rows = np.repeat(some(TARGET, 10), 2)
        p = self.new().fit(TARGET.knobs[rows], TARGET.time_ms[rows], TARGET.power_mw[rows]).predict(MODES)
        assert np.isfinite(p.power_mw).all()

    def test_minibatch_sizes_are_a_fifth_knob(self) -> None:
        batches = with_minibatches()
        p = self.fitted(60, batches, corpus=(batches,)).predict(batches.knobs)
        assert p.time_ms.shape == (len(batches),)

    def test_knobs_of_another_width_are_refused(self) -> None:
        with pytest.raises(ValueError, match="columns"):
            self.fitted().predict(with_minibatches().knobs)

    @pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
    def test_values_that_are_no_measurement_are_refused(self, bad: float) -> None:
        time = TARGET.time_ms[:5].copy()
        time[2] = bad
        with pytest.raises(ValueError, match="time_ms"):
            self.new().fit(TARGET.knobs[:5], time, TARGET.power_mw[:5])

    def test_a_missing_reference_is_refused_clearly_or_not_needed(self) -> None:
        if predictor_class(self.method).needs_reference:
            with pytest.raises(ValueError, match="needs a reference"):
                self.fitted(corpus=())
        else:
            assert len(self.fitted(corpus=()).predict(MODES).time_ms) == len(MODES)


def assert_same(first: Prediction, second: Prediction) -> None:
    for name in ("time_ms", "power_mw", "time_log_sd", "power_log_sd"):
        one, other = getattr(first, name), getattr(second, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-6)
