from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from modeling.core.assignment import assign

COST = st.one_of(st.integers(1, 9).map(float), st.just(np.inf))
TABLES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: arrays(float, shape, elements=COST)
)


def every_placing(costs):
    """Costs of the jobs placed, for each way to give jobs boards of their own."""
    jobs, boards = costs.shape
    seats = [*range(boards), *[None] * jobs]
    for seating in set(permutations(seats, jobs)):
        found = [costs[job, board] for job, board in enumerate(seating) if board is not None]
        if np.isfinite(found).all():
            yield found


def paid(costs, placed):
    return [costs[job, board] for job, board in enumerate(placed) if board is not None]


@settings(max_examples=60)
@given(TABLES)
def test_as_many_jobs_as_possible_run_at_the_least_sum(costs):
    mine = paid(costs, assign(costs))
    assert (-len(mine), sum(mine)) == min((-len(each), sum(each)) for each in every_placing(costs))


@settings(max_examples=60)
@given(TABLES)
def test_the_last_to_finish_is_as_early_as_can_be(costs):
    mine = paid(costs, assign(costs, "latest"))
    best = min((-len(each), max(each, default=0), sum(each)) for each in every_placing(costs))
    assert (-len(mine), max(mine, default=0), sum(mine)) == best


@settings(max_examples=30)
@given(TABLES)
def test_no_board_gets_two_jobs(costs):
    taken = [board for board in assign(costs) if board is not None]
    assert len(taken) == len(set(taken))


def test_unknown_costs_and_aims_are_refused():
    with pytest.raises(ValueError, match="positive"):
        assign(np.array([[np.nan]]))
    with pytest.raises(ValueError, match="neither"):
        assign(np.array([[1.0]]), "soon")
