import numpy as np

from modeling.core.planner import Budget
from modeling.core.prediction import Prediction
from modeling.core.verify import bolder, verified_pick
from tests.core.boards import MODES, workload

TRUTH = workload()
START = np.array([0, 100])
LIMIT = Budget(power_mw=16_000)


def measure(rows):
    return TRUTH.time_ms[rows], TRUTH.power_mw[rows]


def optimist(rows, time_ms, power_mw):
    """Believes that every mode draws a tenth less than it does."""
    return Prediction(TRUTH.time_ms, TRUTH.power_mw * 0.9)


def test_the_pick_is_a_measured_mode_within_the_budget():
    pick = verified_pick(optimist, MODES, START, measure, LIMIT)
    assert pick.feasible
    assert pick.index in pick.rows
    assert TRUTH.power_mw[pick.index] <= 16_000


def test_a_right_belief_needs_one_measurement():
    pick = verified_pick(lambda *_: Prediction(TRUTH.time_ms, TRUTH.power_mw), MODES, START, measure, LIMIT)
    within = np.flatnonzero(TRUTH.power_mw <= 16_000)
    assert pick.extra == 1
    assert TRUTH.time_ms[pick.index] == TRUTH.time_ms[within].min()


def test_it_stops_after_so_many_tries():
    pick = verified_pick(optimist, MODES, START, measure, Budget(power_mw=1_000), tries=2)
    assert (pick.extra <= 2, pick.feasible) == (True, False)


def test_what_was_measured_is_learned_from():
    seen = []
    verified_pick(lambda rows, *_: seen.append(len(rows)) or optimist(rows, *_), MODES, START, measure, LIMIT)
    assert seen == list(range(2, 2 + len(seen)))


def test_a_bolder_budget_keeps_its_ceilings():
    assert bolder(Budget(power_mw=5, time_ms=6)) == Budget(5, 6, risk=0.16)
