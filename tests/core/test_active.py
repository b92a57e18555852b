"""Modes chosen by what they would teach; and the plainer ways to choose."""

import numpy as np
import pytest

from modeling.core.active import choose_next, interest_in, outlook
from modeling.core.metrics import mape
from modeling.core.pareto import pareto_mask
from modeling.core.prediction import IntArray
from modeling.core.roofline.belief import Belief, belief_for
from modeling.core.roofline.corpus import CorpusFit
from modeling.core.roofline.design import Uncertainty, greedy
from modeling.core.roofline.workload import LogPrediction, fit_workload
from modeling.core.sampling import STRATEGIES, active_modes, grid_modes, spread_modes
from tests.core.boards import MAXIMUM, MODES, some, workload

TARGET = workload("target", gpu=60, cpu=25)
NONE = np.zeros(0, dtype=np.int64)


@pytest.fixture(scope="module")
def belief() -> Belief:
    return belief_for(CorpusFit(), np.array(MAXIMUM, dtype=float))


def measure(rows: IntArray):
    return TARGET.time_ms[rows], TARGET.power_mw[rows]


@pytest.mark.parametrize("name", ["random", "grid", "spread", "active"])
@pytest.mark.parametrize("count", [1, 9])
def test_every_strategy_gives_different_rows_the_same_for_a_seed(name: str, count: int) -> None:
    first, again = (STRATEGIES[name](MODES, count, (), 5, measure) for _ in range(2))
    assert len(set(first.tolist())) == count
    assert first.tolist() == again.tolist()
    assert ((first >= 0) & (first < len(MODES))).all()


@pytest.mark.parametrize("choose", [grid_modes, spread_modes])
def test_grid_and_spread_hold_the_largest_mode_and_fill_up_to_the_whole(choose) -> None:
    rng = np.random.default_rng(0)
    assert len(MODES) - 1 in choose(MODES, 10, rng)
    assert sorted(choose(MODES, len(MODES), rng)) == list(range(len(MODES)))


def test_spread_modes_keep_further_apart_than_random_ones() -> None:
    def closest(rows: IntArray) -> float:
        logs = np.log(MODES[rows])
        gaps = np.abs(logs[:, None] - logs[None]).sum(axis=2)
        return float(gaps[gaps > 0].min())

    spread = spread_modes(MODES, 12, np.random.default_rng(0))
    assert closest(spread) > np.median([closest(some(TARGET, 12, seed)) for seed in range(9)])


def test_the_first_mode_is_the_largest(belief: Belief) -> None:
    assert choose_next(belief, MODES, NONE, np.zeros(0), np.zeros(0), 3)[0] == len(MODES) - 1


def test_no_mode_is_chosen_twice(belief: Belief) -> None:
    rows = some(TARGET, 20)
    new = choose_next(belief, MODES, rows, *measure(rows), 15)
    assert len({*rows, *new}) == 35


def test_more_modes_than_are_left_are_refused(belief: Belief) -> None:
    with pytest.raises(ValueError, match="only 192"):
        choose_next(belief, MODES, NONE, np.zeros(0), np.zeros(0), 193)


def test_a_higher_cost_exponent_saves_profiling_time(belief: Belief) -> None:
    rows = np.array([len(MODES) - 1])
    careless, thrifty = (
        choose_next(belief, MODES, rows, *measure(rows), 8, cost_exponent=exponent) for exponent in (0.0, 1.0)
    )
    assert TARGET.time_ms[thrifty].sum() < TARGET.time_ms[careless].sum()


def test_of_two_equal_lessons_the_one_about_power_goes_first() -> None:
    # places: a mode that teaches time, one that teaches power, and the mode both are to be known at
    time, power = np.eye(3), np.eye(3)
    time[0, 2] = time[2, 0] = power[1, 2] = power[2, 1] = 0.9
    unknown = Uncertainty(np.array([time, power]), np.full(2, 0.01), np.ones(3))
    assert greedy(unknown, 2, 2, [], np.ones(1)) == [1, 0]


def test_active_modes_teach_more_than_random_ones_and_take_less_time(belief: Belief) -> None:
    def error(rows: IntArray) -> float:
        p = fit_workload(belief, MODES[rows], *measure(rows)).predict(MODES)
        return mape(TARGET.time_ms, np.exp(p.time))

    active = [active_modes(MODES, 12, belief, seed, measure) for seed in range(3)]
    random = [some(TARGET, 12, seed) for seed in range(5)]
    for score in (error, lambda rows: TARGET.time_ms[rows].sum()):
        assert np.median([score(rows) for rows in active]) < np.median([score(rows) for rows in random])


def test_aiming_at_the_front_or_a_budget_leaves_the_rest_aside() -> None:
    sd = np.full(len(MODES), 0.02)
    known = LogPrediction(np.log(TARGET.time_ms), sd, np.log(TARGET.power_mw / 1000), sd)
    on_front, for_budget = interest_in("front", known), interest_in(20_000.0, known)
    front = pareto_mask(TARGET.time_ms, TARGET.power_mw)
    assert (on_front[front] > 0.999).all()
    assert np.quantile(on_front[~front], 0.3) < 0.05
    assert for_budget[TARGET.power_mw > 24_000].max() < 0.01
    assert TARGET.power_mw[np.argmax(for_budget)] < 20_500


def test_an_aimed_choice_is_a_choice(belief: Belief) -> None:
    rows = some(TARGET, 10)
    for aim in ("front", 20_000.0):
        assert len(set(choose_next(belief, MODES, rows, *measure(rows), 5, aim=aim))) == 5


def test_the_outlook_names_minutes_and_errors_and_ends_when_little_is_left(belief: Belief) -> None:
    few, many = some(TARGET, 6), some(TARGET, 150)
    early = outlook(belief, MODES, few, *measure(few))
    late = outlook(belief, MODES, many, *measure(many), count=2)
    assert str(early).startswith("10 more modes: about ")
    assert early.time_error[0] > early.time_error[1] > 0
    assert early.worthwhile
    assert not late.worthwhile
