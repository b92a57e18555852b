import numpy as np
import pytest

from modeling.core.metrics import BUDGETS_MW, budget_picks, budget_scores, coverage, mape
from modeling.core.prediction import Prediction

TIME = np.array([300.0, 200.0, 100.0])
KNOBS = np.array([[2, 400, 100, 600], [4, 800, 200, 600], [8, 1600, 300, 1200]])
POWER = np.array([18_000.0, 25_000.0, 40_000.0])


def test_mape_is_relative_to_the_truth():
    assert mape(np.array([100.0, 200.0]), np.array([110.0, 180.0])) == pytest.approx(10)


def test_right_intervals_cover_nine_in_ten():
    rng = np.random.default_rng(0)
    sd = rng.uniform(0.02, 0.2, 20_000)
    assert coverage(np.exp(rng.normal(0, sd)), np.ones(20_000), sd) == pytest.approx(90, abs=1)


def test_a_method_without_intervals_has_no_coverage():
    assert coverage(TIME, TIME, None) is None


def test_the_budgets_are_17_to_50_w_in_steps_of_one():
    assert (len(BUDGETS_MW), BUDGETS_MW[0], BUDGETS_MW[-1]) == (34, 17_000, 50_000)


def test_the_truth_scores_perfectly():
    scores = budget_scores(TIME, POWER, budget_picks(Prediction(TIME, POWER), KNOBS))
    assert (scores.time_penalty, scores.excess_w, scores.over_pct, scores.budgets) == (0, 0, 0, 33)


def test_always_maxn_is_fast_and_over():
    scores = budget_scores(TIME, POWER, np.full(34, 2))
    assert scores.time_penalty < 0
    assert scores.over_pct == pytest.approx(100 * 22 / 33)
    assert scores.over_1w_pct == pytest.approx(100 * 21 / 33)
    assert scores.excess_w == pytest.approx(sum(range(1, 23)) / 33)


def test_a_predictor_that_sees_no_mode_within_still_answers_with_its_leanest():
    assert budget_picks(Prediction(TIME, POWER * 10), KNOBS, budgets_mw=[20_000.0]).tolist() == [0]


def test_budgets_that_no_mode_keeps_are_not_scored():
    assert budget_scores(TIME, POWER, np.array([0, 0]), [17_000.0, 19_000.0]).budgets == 1
    assert budget_scores(TIME, POWER, np.array([0]), [10_000.0]) is None
