import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeling.core.pareto import pareto_front, pareto_mask

# few distinct values, so that ties and duplicates are common
PAIRS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=40)


def beats(a, b):
    return a[0] <= b[0] and a[1] <= b[1] and a != b


@given(PAIRS)
def test_it_keeps_exactly_the_modes_that_no_other_beats(pairs):
    time, power = (np.array([pair[side] for pair in pairs], dtype=float) for side in (0, 1))
    expected = [not any(beats(other, pair) for other in pairs) for pair in pairs]
    assert pareto_mask(time, power).tolist() == expected


def test_the_front_runs_from_fast_to_lean():
    time, power = np.array([3.0, 1.0, 2.0, 2.5]), np.array([1.0, 9.0, 4.0, 5.0])
    assert pareto_front(time, power).tolist() == [1, 2, 0]


def test_unknown_values_are_refused():
    with pytest.raises(ValueError, match="finite"):
        pareto_mask(np.array([1.0, np.nan]), np.array([1.0, 2.0]))
