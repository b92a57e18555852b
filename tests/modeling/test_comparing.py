import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeling.comparing import line_through, ratio_of


def test_a_line_is_found_with_its_r2():
    line = line_through(np.array([1.0, 2.0, 4.0]), np.array([5.0, 7.0, 11.0]))
    assert (line.slope, line.intercept, line.r2) == pytest.approx((2, 3, 1))


def test_r2_is_the_share_of_the_variance_that_the_line_explains():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 1.0, 4.0])
    assert line_through(x, y).r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


@pytest.mark.parametrize("x", [[], [3.0], [1.0, 2.0], [1.0, 2.0, 2.0]])
def test_two_points_prove_no_line(x):
    assert line_through(np.array(x), np.array(x)) is None


@given(st.lists(st.floats(0.1, 1e4), min_size=3, max_size=30), st.floats(0.1, 10))
def test_a_constant_factor_is_the_ratio_at_every_percentile(values, factor):
    a = np.array(values)
    told = ratio_of(a, factor * a)
    assert (told.median, told.mean, told.low, told.high) == pytest.approx((factor,) * 4)
    assert told.r2 is None or told.r2 == pytest.approx(1)


def test_no_shared_mode_has_no_ratio():
    assert ratio_of(np.zeros(0), np.zeros(0)) is None
