import numpy as np
import pytest

from modeling.core.crossvalidate import cross_validate
from modeling.core.metrics import mape
from modeling.core.predictors import predictor_class
from tests.core.boards import MAXIMUM, MODES, some, workload

TARGET = workload()


def own_error(method, rows, **more):
    make = lambda: predictor_class(method)(board_maximum=MAXIMUM)  # noqa: E731
    return cross_validate(make, MODES[rows], TARGET.time_ms[rows], TARGET.power_mw[rows], **more)


def test_the_own_error_is_near_the_true_one():
    rows = some(TARGET, 60)
    fitted = predictor_class("nearest")(board_maximum=MAXIMUM)
    truth = fitted.fit(MODES[rows], TARGET.time_ms[rows], TARGET.power_mw[rows]).predict(MODES)
    unseen = np.setdiff1d(np.arange(len(MODES)), rows)
    true_error = mape(TARGET.time_ms[unseen], truth.time_ms[unseen])
    assert own_error("nearest", rows).time_mape == pytest.approx(true_error, rel=0.4)


def test_each_row_is_predicted_once_and_in_its_place():
    class Echo:
        def fit(self, knobs, time_ms, power_mw):
            self.seen = {tuple(mode) for mode in knobs.tolist()}
            return self

        def predict(self, knobs):
            assert self.seen.isdisjoint(map(tuple, knobs.tolist()))
            return TRUTH.predict(knobs)

    TRUTH = predictor_class("nearest")().fit(MODES, TARGET.time_ms, TARGET.power_mw)
    rows = np.repeat(some(TARGET, 23), 2)
    found = cross_validate(Echo, MODES[rows], TARGET.time_ms[rows], TARGET.power_mw[rows])
    assert (found.time_mape, found.power_mape) == (0, 0)


def test_a_method_with_intervals_states_its_own_coverage():
    found = own_error("gp", some(TARGET, 40))
    assert found.coverage90_time > 75
    assert found.prediction.time_log_sd.shape == (40,)


def test_few_modes_make_fewer_folds():
    assert own_error("nearest", some(TARGET, 3)).folds == 3


def test_one_mode_cannot_be_held_out():
    assert own_error("nearest", np.array([5, 5])) is None
