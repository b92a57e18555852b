import numpy as np
import pytest

from modeling.core.crossvalidate import SMALLEST_LOG_SD, cross_validate, with_own_error
from modeling.core.metrics import mape
from modeling.core.prediction import Measured, Prediction
from modeling.core.predictors import predictor_class
from tests.core.boards import MAXIMUM, MODES, some, workload

TARGET = workload()


def part(rows):
    return Measured("part", MODES[rows], TARGET.time_ms[rows], TARGET.power_mw[rows], board_maximum=MAXIMUM)


def using(method):
    def fit_predict(known, knobs):
        fitted = predictor_class(method)(board_maximum=MAXIMUM)
        return fitted.fit(known.knobs, known.time_ms, known.power_mw).predict(knobs)

    return fit_predict


def test_the_own_error_is_near_the_true_one():
    rows = some(TARGET, 100)
    unseen = np.setdiff1d(np.arange(len(MODES)), rows)
    said = using("nearest")(part(rows), MODES[unseen])
    own = cross_validate(part(rows), using("nearest"), seed=0)
    assert own.time_mape == pytest.approx(mape(TARGET.time_ms[unseen], said.time_ms), rel=0.4)


def test_each_mode_is_held_out_once_and_predicted_in_its_place():
    held_out = []

    def truth(known, knobs):
        held_out.extend(map(tuple, knobs.tolist()))
        assert set(map(tuple, known.knobs.tolist())).isdisjoint(map(tuple, knobs.tolist()))
        return using("nearest")(TARGET, knobs)

    own = cross_validate(part(some(TARGET, 23)), truth, seed=0)
    assert (own.time_mape, own.power_mape, own.rows, own.folds) == (0, 0, 23, 5)
    assert len(set(held_out)) == 23


def test_a_method_with_intervals_states_its_own_coverage():
    own = cross_validate(part(some(TARGET, 40)), using("gp"), seed=0)
    assert own.coverage90_time > 75


def test_few_modes_make_fewer_folds_and_two_make_none():
    assert cross_validate(part(some(TARGET, 3)), using("nearest"), seed=0).folds == 3
    assert cross_validate(part(some(TARGET, 2)), using("nearest"), seed=0) is None


def test_a_method_without_intervals_is_given_its_own_error():
    own = cross_validate(part(some(TARGET, 40)), using("linear"), seed=0)
    given = with_own_error(using("linear")(part(some(TARGET, 40)), MODES), own)
    assert set(given.time_log_sd) == {max(own.time_log_sd, SMALLEST_LOG_SD)}
    assert "cross-validation" in given.notes[-1]


def test_a_method_with_intervals_keeps_its_own():
    own = cross_validate(part(some(TARGET, 40)), using("linear"), seed=0)
    stated = Prediction(*np.ones((4, 3)))
    assert with_own_error(stated, own) is stated
    assert with_own_error(Prediction(*np.ones((2, 3))), None).time_log_sd is None


def test_the_single_rows_are_told_but_bounded(monkeypatch):
    monkeypatch.setattr("modeling.core.crossvalidate.SHOWN_ROWS", 20)
    own = cross_validate(part(some(TARGET, 30)), using("nearest"), seed=0)
    assert own.rows == 30
    assert {len(column) for column in own.held_out.values()} == {20}
    assert "held_out" not in own.card


def test_each_rows_error_is_its_own():
    def doubled(known, knobs):
        said = using("nearest")(TARGET, knobs)
        return Prediction(2 * said.time_ms, said.power_mw)

    own = cross_validate(part(some(TARGET, 20)), doubled, seed=0)
    assert set(own.held_out["time_error_pct"]) == {100.0}
    assert set(own.held_out["power_error_pct"]) == {0.0}
    assert own.calibration == {"time": {}, "power": {}}


def test_wider_intervals_hold_more():
    own = cross_validate(part(some(TARGET, 60)), using("gp"), seed=0)
    shares = [own.calibration["time"][level] for level in ("50", "80", "90", "95")]
    assert shares == sorted(shares)
    assert own.coverage90_time == own.calibration["time"]["90"]
