import numpy as np
import pytest

from profiling.board.emulated import EmulatedBoard
from profiling.board.emulation.demand import NETWORKS, EmulatedWorkload
from profiling.board.emulation.law import emulated_table
from profiling.errors import BoardError, InvalidInput, NotFound
from profiling.knobs import Knobs
from profiling.soc import knob_range
from tests.board.conftest import ENTRIES
from tests.contracts_board import BoardContract

RESNET = EmulatedWorkload("resnet18")
FAST = Knobs(12, 2201600, 1300500, 3199000)


class TestEveryEmulatedBoard(BoardContract):
    @pytest.fixture(params=sorted(ENTRIES))
    def board(self, request):
        return EmulatedBoard(ENTRIES[request.param], RESNET)


class TestEmulatedJetPack7(BoardContract):
    def make(self, tmp_path):
        return EmulatedBoard(ENTRIES["orin-nano-8gb-super"], RESNET, bwmgr=True)


@pytest.fixture
def board(orin):
    return EmulatedBoard(orin, RESNET, seed=3)


def test_it_boots_into_its_default_stock_mode(board):
    assert board.current() == Knobs(8, 1728000, 624750, 3199000)


def test_the_first_minibatch_is_a_warm_up(board):
    board.apply(FAST)
    first, *later = [board.run_minibatch().time_ms for _ in range(10)]
    assert first > 3 * np.median(later)


def test_time_passes_only_as_work_is_done(board):
    done = [board.run_minibatch() for _ in range(5)]
    assert board.clock.now() == pytest.approx(sum(each.time_ms for each in done) / 1000)


def test_minibatches_finish_while_one_sleeps(board):
    board.apply(FAST)
    board.clock.sleep(5)
    finished = board.finished()
    assert [each.index for each in finished] == list(range(len(finished)))
    assert len(finished) > 40
    assert board.finished() == []


def test_sensors_repeat_within_their_430_ms(board):
    board.clock.sleep(3.02)
    same = board.read().rails_mw
    board.clock.sleep(0.1)
    assert board.read().rails_mw == same
    board.clock.sleep(0.43)
    assert board.read().rails_mw != same


def test_power_needs_about_two_seconds_to_follow_a_switch(board):
    board.apply(Knobs(2, 268800, 114750, 204000))
    board.clock.sleep(30)
    low = board.read().total_mw
    board.apply(FAST)
    board.clock.sleep(0.9)
    early = board.read().total_mw
    board.clock.sleep(3)
    assert low < early < 0.9 * board.read().total_mw


def test_a_sweep_agrees_with_the_table_of_the_same_board(orin, board):
    modes = knob_range(orin).all_modes()[100::4000]
    time_ms, power_mw = emulated_table(orin, RESNET, modes, seed=3)
    for row, time, power in zip(modes, time_ms, power_mw, strict=True):
        board.apply(Knobs(*map(int, row)))
        board.start(RESNET)
        board.run_minibatch()
        board.clock.sleep(150)  # the die warms up over minutes, and leaks more
        measured = [board.run_minibatch().time_ms for _ in range(20)]
        assert np.median(measured) == pytest.approx(time, rel=0.05)
        assert board.read().total_mw == pytest.approx(power, rel=0.08)


def test_resnet_on_agx_orin_spans_what_the_papers_report(orin):
    ranges = knob_range(orin)
    grid = ranges.all_modes()
    cpu = (*ranges.cpu_khz[2::2], 2201600)
    sampled = (grid[:, 0] % 2 == 0) & np.isin(grid[:, 1], cpu)
    time_ms, power_mw = emulated_table(orin, RESNET, grid[sampled])
    assert time_ms.min() == pytest.approx(59, rel=0.1)
    assert time_ms.max() == pytest.approx(2180, rel=0.15)
    assert power_mw.min() / 1000 == pytest.approx(12, rel=0.1)
    assert power_mw.max() / 1000 == pytest.approx(51, rel=0.1)


@pytest.mark.parametrize("slug", ENTRIES)
def test_every_network_runs_on_every_board_within_its_power(slug):
    entry = ENTRIES[slug]
    ranges = knob_range(entry)
    modes = np.array([ranges.maximum, BoardContract.lowest(ranges)])
    for network in NETWORKS:
        for kind in ("training", "inference"):
            time_ms, power_mw = emulated_table(entry, EmulatedWorkload(network, kind), modes)
            assert 0 < time_ms[0] < time_ms[1]
            assert 1000 < power_mw[1] < power_mw[0] < 1100 * entry["peak_power_w"]


def test_equal_seeds_are_equal_boards_and_others_differ(orin):
    modes = knob_range(orin).all_modes()[:50]
    one, same, other = (emulated_table(orin, RESNET, modes, seed) for seed in (1, 1, 2))
    assert (one[0] == same[0]).all()
    assert not (one[0] == other[0]).any()


def test_fewer_loader_workers_stall_a_fast_gpu(orin):
    mode = np.array([FAST])
    times = [
        emulated_table(orin, EmulatedWorkload("resnet18", loader_workers=n), mode)[0][0] for n in (4, 1, 0)
    ]
    assert times[0] < times[1] < times[2]


def test_a_stubborn_firmware_is_named(orin):
    board = EmulatedBoard(orin, caps_khz={"gpu": 918000})
    with pytest.raises(BoardError, match="asked for 1300500000, the kernel settled on 828750000"):
        board.apply(FAST)
    board.restore()


def test_an_unknown_network_or_kind_is_refused():
    with pytest.raises(InvalidInput, match="there are lenet5"):
        EmulatedWorkload("resnet5000")
    with pytest.raises(InvalidInput, match="training or inference"):
        EmulatedWorkload("resnet18", "sleeping")


def test_a_device_model_nobody_described_still_runs():
    entry = {
        **ENTRIES["agx-orin"],
        "slug": "agx-orin-64gb",
        "rails": ["NEW_RAIL"],
        "total_rails": ["NEW_RAIL"],
    }
    board = EmulatedBoard(entry, RESNET)
    board.clock.sleep(3)
    assert board.read().total_mw > 5000


def test_a_stock_mode_with_the_same_mask_switches_live(orin):
    board = EmulatedBoard(orin)
    board.nvpmodel(1)
    assert board.current() == Knobs(4, 1113600, 420750, 3199000)  # caps on the memory are not a rate


def test_a_stock_mode_with_another_mask_wants_a_reboot_and_changes_nothing():
    board = EmulatedBoard(ENTRIES["orin-nano-8gb"])
    before = board.current()
    with pytest.raises(BoardError, match="Reboot required") as caught:
        board.nvpmodel(1)
    assert caught.value.extra["reboot"]
    assert board.current() == before


def test_after_the_reboot_the_mode_is_in_force_with_half_the_gpu():
    board = EmulatedBoard(ENTRIES["orin-nano-8gb"], RESNET)
    full = board.apply(board.ranges().maximum)
    board.run_minibatch()
    before = [board.run_minibatch().time_ms for _ in range(9)][-1]
    board.reboot(1)
    assert board.current().cores == 4
    board.nvpmodel(1)
    board.apply(full)
    board.start(RESNET)
    board.run_minibatch()
    assert [board.run_minibatch().time_ms for _ in range(9)][-1] > 1.3 * before


def test_a_stock_mode_nobody_wrote_down_is_not_found(orin):
    with pytest.raises(NotFound, match="no power mode 9"):
        EmulatedBoard(orin).nvpmodel(9)


def test_a_board_kept_on_disk_is_found_as_it_was_left(orin, tmp_path):
    board = EmulatedBoard(orin, root=tmp_path)
    found = board.current()
    board.apply(FAST)
    again = EmulatedBoard(orin, root=tmp_path)
    assert again.current() == FAST
    again.restore()
    assert again.current() == found
