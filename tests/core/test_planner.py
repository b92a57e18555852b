import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeling.core.objectives import OBJECTIVES
from modeling.core.planner import (
    Budget,
    choose,
    fastest_within,
    leanest_within,
    least_energy_within,
    with_measured,
)
from modeling.core.prediction import Prediction

KNOBS = np.array([[2, 400, 100, 600], [4, 800, 200, 600], [4, 800, 300, 1200], [8, 1600, 300, 1200]])
TIME = np.array([400.0, 200.0, 120.0, 100.0])
POWER = np.array([10_000.0, 15_000.0, 21_000.0, 40_000.0])


def points():
    return Prediction(TIME, POWER)


def unsure(sd=0.05):
    return Prediction(TIME, POWER, np.full(4, sd), np.full(4, sd))


def test_it_takes_the_fastest_mode_within_the_power():
    choice = fastest_within(points(), 20_000)
    assert (choice.index, choice.feasible, choice.chance) == (1, True, 1.0)


def test_it_names_the_better_mode_just_beyond_the_budget():
    assert fastest_within(points(), 20_000).nearest_beyond == 2


def test_nothing_lies_beyond_when_nothing_outside_is_better():
    assert fastest_within(points(), 50_000).nearest_beyond is None


def test_when_nothing_fits_it_says_by_how_much_the_closest_misses():
    choice = fastest_within(points(), 9_000)
    assert (choice.index, choice.feasible, dict(choice.misses)) == (0, False, {"power_mw": 1_000.0})


def test_a_smaller_risk_takes_a_leaner_mode():
    assert fastest_within(unsure(), 15_500, risk=0.4).index == 1
    assert fastest_within(unsure(), 15_500, risk=0.01).index == 0


def test_the_chance_is_that_of_the_normal_law():
    assert fastest_within(unsure(), 15_000 * np.exp(0.05), risk=0.2).chance == pytest.approx(0.8413, abs=1e-4)


def test_chances_to_break_several_ceilings_are_added():
    choice = choose(unsure(), Budget(15_000 * np.exp(0.05), 200 * np.exp(0.05), risk=0.4))
    assert choice.chance == pytest.approx(1 - 2 * 0.1587, abs=1e-3)


def test_what_misses_is_named_even_if_each_ceiling_alone_would_do():
    both = Budget(15_000 * np.exp(0.05), 200 * np.exp(0.05), risk=0.2)
    choice = choose(unsure(), both)
    assert not choice.feasible
    assert choice.misses


def test_a_method_without_uncertainty_says_so():
    assert any("no uncertainty" in note for note in fastest_within(points(), 20_000).notes)


def test_the_leanest_mode_keeps_the_deadline():
    assert leanest_within(points(), 210).index == 1


def test_least_energy_within_a_deadline():
    assert least_energy_within(points()).index == 2
    assert least_energy_within(points(), power_mw=20_000).index == 1


def test_the_weight_moves_the_choice_from_time_to_energy():
    picks = [choose(points(), objective="weighted", energy_weight=w).index for w in (0.0, 1.0)]
    assert picks == [3, 2]


def test_the_knee_is_where_the_front_bends():
    bent = Prediction(np.array([100.0, 110.0, 400.0]), np.array([40_000.0, 15_000.0, 12_000.0]))
    assert choose(bent, objective="knee").index == 1


def test_knobs_can_be_held_in_a_range():
    choice = choose(points(), knobs=KNOBS, allowed={"cores": (None, 4), "gpu_khz": (None, 200)})
    assert choice.index == 1


def test_a_range_without_a_mode_is_refused():
    with pytest.raises(ValueError, match="widen"):
        choose(points(), knobs=KNOBS, allowed={"cores": (9, None)})


def test_batch_sizes_compete_by_time_per_sample():
    knobs = np.column_stack([np.repeat(KNOBS[:1], 2, axis=0), [1, 16]])
    p = Prediction(np.array([10.0, 80.0]), np.array([9_000.0, 9_500.0]))
    assert choose(p, knobs=knobs).index == 0
    assert choose(p, knobs=knobs, per_sample=True).index == 1
    assert choose(p, Budget(time_ms=50), knobs=knobs, per_sample=True).index == 0
    assert choose(p, Budget(sample_time_ms=6), "leanest", knobs=knobs).index == 1
    least = (p.energy_mj / knobs[:, 4]).min()
    assert choose(p, Budget(sample_energy_mj=least), knobs=knobs).index == np.argmin(
        p.energy_mj / knobs[:, 4]
    )


def test_a_measured_mode_takes_the_place_of_its_prediction():
    known = with_measured(unsure(), np.array([2]), np.array([119.0]), np.array([19_900.0]))
    choice = fastest_within(known, 20_000, risk=0.01)
    assert (choice.index, choice.chance) == (2, 1.0)


@pytest.mark.parametrize("bad", [{"power_mw": 0}, {"time_ms": float("nan")}, {"risk": 1.0}, {"risk": 0}])
def test_a_senseless_budget_is_refused(bad):
    with pytest.raises(ValueError, match="is n"):
        Budget(**bad)


@given(st.integers(0, 10_000), st.sampled_from(OBJECTIVES), st.floats(0.01, 0.5))
def test_a_feasible_choice_keeps_its_promise(seed, objective, risk):
    rng = np.random.default_rng(seed)
    p = Prediction(*rng.uniform(10, 100, (2, 30)), *rng.uniform(0.01, 0.3, (2, 30)))
    choice = choose(p, Budget(power_mw=50, time_ms=60, risk=risk), objective)
    assert choice.feasible == (choice.chance >= 1 - risk - 1e-12)
    assert choice.feasible == (not choice.misses)
