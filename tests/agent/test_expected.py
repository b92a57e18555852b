"""A sweep's expected length is close to what the protocol then takes."""

import pytest

from profiling.agent.expected import expected_s, mode_s
from profiling.agent.measure import measure
from profiling.agent.rules import Rules
from profiling.knobs import Knobs
from profiling.modes import measuring_order, random_modes
from profiling.workloads.emulated import LOADING_S, EmulatedProcess
from tests.agent.test_emulated_sweep import RESNET, law_ms, orin

__all__ = ["orin"]


def test_it_foretells_an_emulated_sweep(orin):
    modes = measuring_order(random_modes(orin.ranges(), 12, seed=4))
    guess = expected_s(modes, [law_ms(orin, knobs) for knobs in modes], start_s=LOADING_S)
    process, began_s = EmulatedProcess(orin, RESNET), orin.clock.now()
    for knobs in modes:
        measure(orin, process, knobs, minibatch=16)
    assert orin.clock.now() - began_s == pytest.approx(guess, rel=0.15)


def test_fast_modes_wait_for_the_sensor_and_slow_ones_for_minibatches():
    rules = Rules()
    assert mode_s(1.0, rules) == pytest.approx(2.0 + 5.0, abs=0.1)
    assert mode_s(1000.0, rules) == pytest.approx(5 + 2 + 40.5)


def test_passes_apart_take_longer():
    assert mode_s(100.0, Rules(passes="apart")) > mode_s(100.0, Rules())


def test_the_workload_is_started_once_a_group_of_cores():
    two_groups = [Knobs(4, 2, 2, 2), Knobs(4, 1, 2, 2), Knobs(2, 2, 2, 2)]
    assert (
        expected_s(two_groups, [1.0] * 3, start_s=100) - expected_s(two_groups, [1.0] * 3, start_s=0) == 200
    )
