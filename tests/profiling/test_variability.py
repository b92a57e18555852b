"""Spread and outliers, on grids whose law is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.variability import (
    base_mode,
    board_departures,
    coefficients_of_variation,
    modes_of,
    neighbour_departures,
    one_factor,
    outliers,
    percent,
    repeat_departures,
)

STEPS = [(2, 4, 6), (300, 600, 900, 1200), (100, 200, 400), (500, 1000)]
GRID = np.array(np.meshgrid(*STEPS, [16], indexing="ij"), dtype=np.int64).reshape(5, -1).T


def law(settings):
    """A power law: what neighbours say is then exact."""
    return 1e4 * settings[:, 0] ** -0.3 * settings[:, 1] ** -0.5 * (settings[:, 2] / 100.0) ** -0.4


@pytest.fixture
def modes():
    return modes_of(GRID, law(GRID))


def test_repeats_are_one_mode_with_their_median():
    modes = modes_of(np.array([[2, 3, 4, 5, 16]] * 3 + [[1, 3, 4, 5, 16]]), np.array([1.0, 9.0, 2.0, 7.0]))
    assert modes.settings[:, 0].tolist() == [1, 2]
    assert (modes.median.tolist(), modes.count.tolist(), modes.of_run.tolist()) == (
        [7, 2],
        [1, 3],
        [1, 1, 1, 0],
    )


def test_the_base_of_a_whole_grid_is_its_largest_mode(modes):
    assert modes.settings[base_mode(modes)].tolist() == [6, 1200, 400, 1000, 16]


def test_the_base_is_where_lines_cross():
    cross = np.array(
        [[4, 600, 200, 500, 16], [2, 600, 200, 500, 16], [4, 300, 200, 500, 16], [6, 900, 400, 1000, 16]]
    )
    modes = modes_of(cross, np.ones(4))
    assert modes.settings[base_mode(modes)].tolist() == [4, 600, 200, 500, 16]


def test_a_curve_follows_one_knob_and_holds_the_others(modes):
    curves = one_factor(modes, law(GRID), base_mode(modes))
    assert [curve.steps.tolist() for curve in curves] == [list(steps) for steps in STEPS]
    assert np.allclose(curves[1].median, law(np.array([[6, cpu, 400, 1000, 16] for cpu in STEPS[1]])))


def test_unknown_knobs_make_no_curve():
    settings = np.array([[-1, -1, gpu, -1, 4] for gpu in (100, 200)])
    modes = modes_of(settings, np.array([2.0, 1.0]))
    assert [curve.knob for curve in one_factor(modes, np.array([2.0, 1.0]), base_mode(modes))] == [2]


def test_a_mode_measured_once_has_no_spread(modes):
    assert np.isnan(repeat_departures(modes, law(GRID))).all()
    assert not len(coefficients_of_variation(modes, law(GRID)))


def test_the_spread_is_that_of_numpy():
    values = np.array([10.0, 11.0, 12.5])
    modes = modes_of(np.tile(GRID[:1], (3, 1)), values)
    assert coefficients_of_variation(modes, values) == pytest.approx([values.std(ddof=1) / values.mean()])


def test_a_board_that_is_slower_by_a_tenth_is_told():
    settings, boards = np.tile(GRID, (2, 1)), np.repeat([7, 9], len(GRID))
    departures = board_departures(settings, np.concatenate([law(GRID), 1.1 * law(GRID)]), boards)
    assert percent(departures[9] - departures[7]) == pytest.approx(np.full(len(GRID), 10.0))


def test_boards_without_a_mode_in_common_are_not_compared():
    boards = np.where(np.arange(len(GRID)) % 2, 7, 9)
    assert board_departures(GRID, law(GRID), boards) == {}


def test_what_follows_each_knob_one_way_lies_between_its_neighbours(modes):
    told = neighbour_departures(modes.settings, np.log(modes.median))
    assert np.isfinite(told).sum() == 3 * 4 * 3 * 2 - len([m for m in GRID if edges(m) < 2])
    assert np.allclose(told[np.isfinite(told)], 0)


def edges(mode):
    return sum(min(steps) < value < max(steps) for steps, value in zip(STEPS, mode[:4], strict=True))


@given(st.integers(0, len(GRID) - 1), st.sampled_from([0.3, 2.0, 5.0]))
def test_one_wrong_run_inside_the_grid_is_the_only_outlier(place, factor):
    values = law(GRID)
    values[place] *= factor
    found = outliers(modes_of(GRID, values), modes_of(GRID, values), values)
    if edges(GRID[place]) >= 2:
        assert [each.run for each in found] == [place]
        assert np.sign(found[0].departure_pct) == np.sign(factor - 1)
        assert abs(np.log(found[0].expected / law(GRID)[place])) < abs(np.log(factor))


def test_a_repeat_that_departs_from_the_others_stands_out():
    values = np.array([100.0, 101.0, 99.0, 100.5, 150.0])
    same = modes_of(np.tile(GRID[:1], (5, 1)), values)
    found = outliers(same, same, values)
    assert [(each.run, each.rule, each.expected) for each in found] == [(4, "repeats", 100.5)]


def test_small_scatter_is_no_outlier():
    values = law(GRID) * np.random.default_rng(3).normal(1, 0.01, len(GRID))
    assert outliers(modes_of(GRID, values), modes_of(GRID, values), values) == []


def test_the_runs_of_a_slower_board_are_no_outliers_among_those_of_a_faster_one():
    values, boards = np.array([100.0, 101, 99, 100, 130, 131, 129]), np.array([1, 1, 1, 1, 2, 2, 2])
    settings = np.tile(GRID[:1], (7, 1))
    places = modes_of(np.column_stack([settings, boards]), values)
    assert outliers(modes_of(settings, values), places, values) == []
    assert len(coefficients_of_variation(places, values)) == 2
    assert coefficients_of_variation(places, values).max() < 0.01
