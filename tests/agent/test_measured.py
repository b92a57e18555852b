"""The arithmetic of a run: weights, windows, distinct samples, columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.agent.measured import columns, distinct, is_steady, power_over, quartile_range
from profiling.board.base import Reading


def at(time_s, mw, **more):
    return Reading(time_s=time_s, rails_mw={"VDD_IN": mw}, total_mw=mw, **more)


def test_a_sample_stands_for_the_time_since_the_one_before_it():
    power = power_over([at(1, 1000), at(2, 1000), at(5, 4000)], 1, 5, 0.43)
    assert power.mean_mw == pytest.approx((1 * 1000 + 3 * 4000) / 4)


def test_samples_are_clipped_to_the_window():
    power = power_over([at(0, 9000), at(2, 1000), at(9, 3000)], 1, 3, 0.43)
    assert power.mean_mw == pytest.approx(2000)
    assert power.samples == 1


def test_an_unknown_sample_takes_its_time_with_it():
    power = power_over([at(1, 1000), at(2, None), at(3, 1000)], 0, 3, 0.43)
    assert (power.mean_mw, power.samples) == (1000, 2)


def test_no_known_sample_is_unknown_power():
    assert power_over([at(1, None)], 0, 3, 0.43).mean_mw is None


@given(st.lists(st.tuples(st.floats(0.01, 5), st.floats(0, 1e5)), min_size=1, max_size=30))
def test_mean_power_lies_between_the_extremes(steps):
    time_s, readings = 0.0, []
    for step, mw in steps:
        time_s += step
        readings.append(at(time_s, mw))
    power = power_over(readings, 0.0, time_s, 0.43)
    values = [mw for _, mw in steps]
    assert min(values) - 1e-6 <= power.mean_mw <= max(values) + 1e-6
    assert 1 <= power.samples <= len(readings)


def test_a_repeated_reading_is_not_news():
    assert distinct([at(0, 5), at(0.1, 5), at(0.2, 5), at(0.3, 6), at(0.4, 6)], 0.43) == 2


def test_an_equal_reading_after_the_sensors_period_is_news():
    assert distinct([at(0, 5), at(0.43, 5), at(0.86, 5)], 0.43) == 3


@pytest.mark.parametrize(
    ("power", "steady"), [([10, 10, 10, 10], True), ([5, 7, 9, 10], False), ([10, 11, 10, 11], True)]
)
def test_power_is_steady_when_both_halves_agree(power, steady):
    assert is_steady(power, 0.05) is steady


def test_one_value_has_no_quartiles():
    assert quartile_range([3.0]) is None
    assert quartile_range([1.0, 2.0, 3.0, 4.0, 5.0]) == 2.0


def test_columns_are_of_equal_length_with_none_for_what_a_reading_lacks():
    table = columns([at(10, 5, gpu_khz=7), at(11, 6, temperatures_c={"cpu": 40.0})], 10)
    assert table["time_s"] == [0, 1]
    assert table["temp_cpu_c"] == [None, 40.0]
    assert table["power_vdd_in_mw"] == table["power_total_mw"] == [5, 6]
