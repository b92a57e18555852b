"""What an emulated board does in time."""

import time

import numpy as np
import pytest

from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.law import Law
from profiling.board.emulation.plant import Plant, VirtualClock
from profiling.knobs import Knobs

FAST = Knobs(12, 2201600, 1300500, 3199000)
RESNET = EmulatedWorkload("resnet18")


@pytest.fixture
def plant(orin):
    return Plant(Law(orin, seed=1), lambda: FAST, seed=1)


def test_an_idle_board_draws_little_and_warms_up_less(plant):
    plant.advance(200)
    idle, cool = plant.sensed().total[0], plant.degrees
    plant.start(RESNET)
    plant.advance(200)
    assert plant.sensed().total[0] > 2 * idle
    assert plant.degrees > cool + 10


def test_no_minibatch_without_a_workload(plant):
    with pytest.raises(ValueError, match="start a workload"):
        plant.run_minibatch()
    plant.advance(5)
    assert list(plant.done) == []


def test_minibatches_follow_one_another_without_gaps(plant):
    plant.start(RESNET)
    plant.advance(4.0)
    ends = [each.end_s for each in plant.done]
    lengths = [each.time_ms / 1000 for each in plant.done]
    assert np.diff(ends) == pytest.approx(lengths[1:])
    assert ends[0] == pytest.approx(lengths[0])


def test_how_time_is_sliced_does_not_matter(orin):
    one, many = (Plant(Law(orin, seed=1), lambda: FAST, seed=1) for _ in range(2))
    for plant in (one, many):
        plant.start(RESNET)
    one.advance(6.0)
    for _ in range(600):
        many.advance(0.01)
    assert [m.time_ms for m in many.done] == [m.time_ms for m in one.done]
    assert many.sensed().total == pytest.approx(one.sensed().total, rel=0.01)


def test_fetch_and_compute_make_the_whole(plant):
    plant.start(RESNET)
    done = plant.run_minibatch()
    assert done.fetch_ms + done.compute_ms == pytest.approx(done.time_ms)
    assert done.fetch_ms >= 0


def test_the_first_minibatch_after_a_switch_is_slower(orin):
    modes = [FAST]
    plant = Plant(Law(orin, seed=1), lambda: modes[0], seed=1)
    plant.start(RESNET)
    steady = [plant.run_minibatch().time_ms for _ in range(6)][-1]
    modes[0] = FAST._replace(cores=8)
    plant.switched()
    first, second = plant.run_minibatch().time_ms, plant.run_minibatch().time_ms
    assert first > 1.15 * second
    assert second == pytest.approx(steady, rel=0.1)


def test_noise_is_about_what_the_papers_saw(plant):
    plant.start(RESNET)
    times = [plant.run_minibatch().time_ms for _ in range(200)][1:]
    assert 0.01 < np.std(times) / np.mean(times) < 0.02


def test_a_clock_with_a_speed_takes_real_time():
    passed = []
    clock = VirtualClock(passed.append, speed=20.0)
    before = time.monotonic()
    clock.sleep(1.0)
    assert passed == [1.0]
    assert time.monotonic() - before >= 0.05
