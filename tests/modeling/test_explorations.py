"""Cuts through all modes around a plan: each number is that of the landscape."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeling.answers import PlannedMode, PlanQuestion, Quantity
from modeling.explaining import raised_to
from modeling.planning import answer_on
from modeling.selectors.explorations import (
    best_modes,
    knob_curves,
    knob_map,
    parallel_modes,
    pinned_modes,
)
from modeling.selectors.landscape import landscape
from modeling.whatif import what_if
from profiling.errors import InvalidInput
from profiling.knobs import Knobs

CLOCKS = {"across": "cpu_khz", "up": "gpu_khz"}


@pytest.fixture
def land(ready, resnet, orin):
    return landscape(workload=resnet, device_model=orin)


@pytest.fixture
def answer(land):
    return answer_on(land, PlanQuestion(power_mw=20_000))


@pytest.mark.parametrize("up", ["gpu_khz", "mem_khz", "cores"])
def test_a_map_at_the_choice_holds_the_other_knobs(land, answer, up):
    shown = knob_map(land=land, answer=answer, quantity="time_ms", across="cpu_khz", up=up, at_choice=True)
    for row, y in enumerate(shown.y):
        for column, x in enumerate(shown.x):
            knobs = answer.mode.knobs._replace(**{"cpu_khz": x, up: y})
            assert shown.values[row, column] == land.prediction.time_ms[land.row(knobs, 16)]


def test_a_map_of_the_least_has_the_least_of_all_modes(land, answer):
    shown = knob_map(land=land, answer=answer, quantity="energy_mj", **CLOCKS, at_choice=False)
    assert shown.values.shape == (2, 3)
    assert shown.least_value == shown.values.min() == land.prediction.energy_mj.min()
    assert land.prediction.energy_mj[land.row(shown.least_mode, 16)] == shown.least_value


def test_a_map_needs_two_knobs(land, answer):
    with pytest.raises(InvalidInput):
        knob_map(land=land, answer=answer, quantity="time_ms", across="cores", up="cores", at_choice=True)


def test_curves_run_through_the_chosen_mode(land, answer):
    curves = knob_curves(land=land, answer=answer)
    assert len(curves) == 12
    for curve in curves:
        assert curve.values[curve.chosen] == getattr(answer.mode, curve.quantity).value
        assert (curve.low <= curve.values).all()
        assert (curve.values <= curve.high).all()
        assert curve.swing_pct >= 0


def test_parallel_lines_keep_the_budget_and_show_the_front(land, answer):
    shown = parallel_modes(land=land, answer=answer, lines=8)
    assert (shown.columns["power_mw"] <= 20_000).all()
    assert len(shown.knobs) <= max(8, shown.on_front.sum()) <= shown.total
    assert answer.mode.knobs in [Knobs(*row) for row in shown.knobs[shown.on_front == 1].tolist()]


def test_the_best_mode_is_the_chosen_one(land, answer):
    best = best_modes(land=land, answer=answer, count=5)
    assert best.modes[0] == answer.mode
    times = [each.time_ms.value for each in best.modes]
    assert times == sorted(times)
    assert all(each.chance >= 0.95 for each in best.modes)


def test_extents_narrow_the_best_modes(land, answer):
    few = best_modes(land=land, answer=answer, count=99, extents={"cores": (2, 2)})
    assert {each.knobs.cores for each in few.modes} == {2}
    assert few.total == len(few.modes) < best_modes(land=land, answer=answer, count=1).total


def test_a_pinned_mode_is_compared_with_the_choice(land, answer):
    [top] = pinned_modes(land=land, answer=answer, ranks=[35])
    assert top.mode == answer.maxn.mode
    assert (1 + top.power_change_pct / 100) * (1 + answer.maxn.power_change_pct / 100) == pytest.approx(1)
    assert not top.fits
    with pytest.raises(InvalidInput, match="36 modes"):
        pinned_modes(land=land, answer=answer, ranks=[36])


def test_a_plan_explains_itself_in_two_sentences(answer):
    assert len(answer.explanation) == 2
    assert "the power limit is the closest" in answer.explanation[0]
    assert "Raising the power limit to" in answer.explanation[1]


@settings(max_examples=50)
@given(st.floats(1e-3, 1e6))
def test_a_limit_to_raise_to_is_rounded_upwards(needed):
    assert needed * (1 - 1e-12) <= raised_to(needed) <= needed * 1.011


def test_without_limits_only_the_aim_changes_the_choice(land):
    assert "only another aim" in answer_on(land, PlanQuestion()).explanation[1]


def test_raising_the_limit_as_told_brings_the_faster_mode(land, answer):
    needed_w = float(answer.explanation[1].split(" to ")[1].split(" W")[0])
    more = answer_on(land, PlanQuestion(power_mw=needed_w * 1000 * 1.005))
    assert more.mode.time_ms.value <= answer.nearest_beyond.time_ms.value


def mode(epoch: bool = True) -> PlannedMode:
    of_epoch = (Quantity(3600, 3000, 4000), Quantity(36_000, 30_000, 40_000)) if epoch else (None, None)
    power = Quantity(10_000, 9000, 11_000)
    return PlannedMode(
        0, Knobs(1, 1, 1, 1), 16, False, None, Quantity(1, 1, 1), power, Quantity(1, 1, 1), *of_epoch
    )


def test_what_if_speaks_of_batteries_bills_and_finish_times():
    told = what_if(mode=mode(), epochs=10, battery_wh=100, price_per_kwh=0.5)
    assert told.run_s == Quantity(36_000, 30_000, 40_000)
    assert told.run_energy_kwh.value == pytest.approx(0.1)
    assert told.run_cost.value == pytest.approx(0.05)
    assert told.battery_epochs == Quantity(10, 9, 12)
    assert told.battery_h.value == pytest.approx(10)
    assert told.day_energy_kwh.value == pytest.approx(0.24)
    assert told.day_cost.value == pytest.approx(0.12)


def test_what_if_without_an_epochs_length_says_why():
    told = what_if(mode=mode(epoch=False), epochs=10, battery_wh=100)
    assert told.run_s is None
    assert told.battery_epochs is None
    assert told.day_cost is None
    assert "samples per epoch" in told.reason
    assert told.day_energy_kwh.value == pytest.approx(0.24)
