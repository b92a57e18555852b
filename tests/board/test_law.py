"""The emulated law's physics: what must hold whatever its constants are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiling.board.emulation.demand import NETWORKS, EmulatedWorkload, demand_of
from profiling.board.emulation.law import Law, clocks_of
from profiling.board.emulation.power import voltage
from profiling.board.emulation.rails import rail_watts
from profiling.board.emulation.silicon import AGX_ORIN, SILICON, silicon_of
from profiling.board.emulation.timing import timing
from profiling.soc import knob_range
from tests.board.conftest import ENTRIES

workloads = st.builds(
    EmulatedWorkload,
    network=st.sampled_from(sorted(NETWORKS)),
    kind=st.sampled_from(("training", "inference")),
    minibatch=st.sampled_from((1, 4, 16, 32, 64)),
    loader_workers=st.integers(0, 8),
)
boards = st.sampled_from(sorted(SILICON))


def grid(slug, count=60):
    modes = knob_range(ENTRIES[slug]).all_modes()
    return modes[:: max(1, len(modes) // count)]


@settings(max_examples=40)
@given(workloads, boards, st.integers(1, 3))
def test_a_faster_clock_never_makes_a_minibatch_slower(workload, slug, column):
    silicon, modes = silicon_of(ENTRIES[slug]), grid(slug)
    faster = modes.copy()
    faster[:, column] = knob_range(ENTRIES[slug]).maximum[column]
    slow, fast = (timing(demand_of(workload), silicon, clocks_of(m)).time_ms for m in (modes, faster))
    assert (fast <= slow * 1.02).all()  # a faster loader may take a little of the kernels' bandwidth


@settings(max_examples=40)
@given(workloads, boards)
def test_busy_shares_are_shares_and_rails_add_up(workload, slug):
    entry, modes = ENTRIES[slug], grid(slug)
    outcome = Law(entry, seed=1).outcome(modes, workload)
    timed = outcome.timing
    for share in (timed.gpu_busy, timed.arithmetic):
        assert ((share >= 0) & (share <= 1.001)).all()
    assert (timed.stall_ms >= 0).all()
    assert (timed.loader_cores <= modes[:, 0]).all()
    watts = rail_watts(outcome.parts, entry["rails"], entry["total_rails"])
    total = sum(watts[label] for label in entry["total_rails"])
    assert total == pytest.approx(outcome.parts.total, rel=1e-6)
    assert all((rail > 0).all() for rail in watts.values())


@given(st.lists(st.floats(0.05, 1.3), min_size=2, max_size=20))
def test_voltage_rises_with_the_clock_in_regulator_steps(clocks):
    volts = voltage(AGX_ORIN.gpu_rail, np.sort(clocks), 1.3)
    assert (np.diff(volts) >= 0).all()
    assert np.allclose(volts / 0.0125, np.round(volts / 0.0125))
    assert volts.min() >= AGX_ORIN.gpu_rail.floor_v - 1e-9


def test_a_bigger_minibatch_takes_longer_but_less_each_sample():
    law, mode = Law(ENTRIES["agx-orin"]), np.array([[12, 2201600, 1300500, 3199000]])
    times = [law.timing(mode, EmulatedWorkload("resnet18", minibatch=n)).time_ms[0] for n in (1, 8, 64)]
    assert times[0] < times[1] < times[2]
    assert times[0] / 1 > times[1] / 8 > times[2] / 64


def test_training_is_slower_than_inference():
    law, mode = Law(ENTRIES["agx-orin"]), np.array([[12, 2201600, 1300500, 3199000]])
    train, infer = (
        law.timing(mode, EmulatedWorkload("bert_base", k)).time_ms[0] for k in ("training", "inference")
    )
    assert train > 2 * infer


def test_two_cores_starve_a_loader_that_four_can_feed():
    law = Law(ENTRIES["agx-orin"])
    modes = np.array([[2, 2201600, 1300500, 3199000], [4, 2201600, 1300500, 3199000]])
    stall = law.timing(modes, EmulatedWorkload("resnet18")).stall_ms
    assert stall[0] > 50
    assert stall[1] < 10


def test_a_warmer_die_leaks_more():
    law, mode = Law(ENTRIES["agx-orin"]), np.array([[12, 2201600, 1300500, 3199000]])
    timed = law.timing(mode, EmulatedWorkload("resnet18"))
    cool, warm = (law.parts(mode, timed, np.array([c])).total[0] for c in (40.0, 80.0))
    assert 1.0 < warm - cool < 8.0


def test_half_a_gpu_is_slower_and_draws_less():
    whole, half = AGX_ORIN, AGX_ORIN.with_gpu(0.5)
    assert (half.multipliers, half.sm_count) == (whole.multipliers / 2, whole.sm_count / 2)
    assert half.gpu_w < whole.gpu_w
