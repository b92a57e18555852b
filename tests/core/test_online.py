"""Optimisers on a live board, replayed on a made-up table."""

import numpy as np
import pytest

from modeling.core.online import Cost, FullSweep, GradientDescent, SafeDescent, ThompsonSampling
from modeling.core.prediction import NotFitted, Prediction
from modeling.core.regret import replay
from modeling.core.roofline.belief import belief_for
from modeling.core.roofline.corpus import CorpusFit
from modeling.core.roofline.workload import fit_workload
from tests.core.boards import MAXIMUM, MODES, workload

TARGET = workload("target", gpu=60, cpu=25)
TOP, BOTTOM = len(MODES) - 1, 0
COST = Cost(0.5, TARGET.time_ms[TOP], TARGET.time_ms[TOP] * TARGET.power_mw[TOP] / 1000)
BUDGET = 25_000.0
BELIEF = belief_for(CorpusFit(), np.array(MAXIMUM, dtype=float))


def measure(rows):
    return TARGET.time_ms[rows], TARGET.power_mw[rows]


def believe(rows, time_ms, power_mw) -> Prediction:
    logs = fit_workload(BELIEF, MODES[rows], time_ms, power_mw, members=20).predict(MODES)
    return Prediction(np.exp(logs.time), np.exp(logs.power) * 1000, logs.time_sd, logs.power_sd)


def test_the_cost_of_the_first_mode_is_one() -> None:
    assert COST.of(*measure(np.array([TOP])))[0] == pytest.approx(1)


def test_a_full_sweep_ends_at_the_best_mode_and_pays_for_it() -> None:
    done = replay(FullSweep(np.arange(len(MODES)), COST), measure, len(MODES), 200, COST)
    assert done.regret[-1] == 0
    assert sorted(done.rows[: len(MODES)]) == list(range(len(MODES)))


def test_thompson_sampling_comes_close_soon_and_regrets_less_than_the_sweep() -> None:
    done = replay(ThompsonSampling(believe, MODES, TOP, COST, seed=1), measure, len(MODES), 40, COST)
    swept = replay(FullSweep(np.arange(len(MODES)), COST), measure, len(MODES), 40, COST)
    assert np.median(done.regret[-10:]) < 0.05
    assert done.regret.sum() < swept.regret.sum()


def test_gradient_descent_improves_on_where_it_started() -> None:
    done = replay(GradientDescent(MODES, BOTTOM, COST), measure, len(MODES), 60, COST)
    assert done.regret[-1] < 0.25 * done.regret[0]


def test_gradient_descent_rests_where_no_neighbour_is_better() -> None:
    optimiser = GradientDescent(MODES, TOP, COST)
    done = replay(optimiser, measure, len(MODES), 120, COST)
    assert len(set(done.rows[-5:])) == 1
    assert done.regret[-1] == done.regret.min()


@pytest.mark.parametrize("seed", range(3))
def test_the_safe_optimiser_keeps_the_budget_and_gets_near_the_best_within_it(seed: int) -> None:
    fastest = Cost(0.0, COST.time_ms, COST.energy_mj)
    safe = SafeDescent(believe, BOTTOM, fastest, BUDGET, seed=seed)
    done = replay(safe, measure, len(MODES), 25, fastest, BUDGET)
    assert (done.excess_mw > 0.03 * BUDGET).sum() == 0
    assert (done.excess_mw > 0).mean() < 0.2
    assert done.regret[-1] < 0.25 * done.regret[0]


def test_a_mode_seen_to_exceed_is_not_tried_again() -> None:
    fastest = Cost(0.0, COST.time_ms, COST.energy_mj)
    safe = SafeDescent(lambda *_: Prediction(TARGET.time_ms, TARGET.power_mw * 0.9), BOTTOM, fastest, BUDGET)
    done = replay(safe, measure, len(MODES), 40, fastest, BUDGET)
    wrong = done.rows[done.excess_mw > 0]
    assert len(wrong) == len(set(wrong.tolist()))


def test_a_budget_no_mode_keeps_is_refused() -> None:
    with pytest.raises(ValueError, match="no mode keeps 1000"):
        replay(FullSweep(np.arange(3), COST), measure, len(MODES), 3, COST, 1000.0)


def test_there_is_no_belief_before_the_first_measurement() -> None:
    with pytest.raises(NotFitted):
        ThompsonSampling(believe, MODES, TOP, COST).prediction()
