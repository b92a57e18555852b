"""The real driver on trees of several generations, and everything a board can do wrong."""

import os
import signal
import subprocess
import sys

import pytest

from profiling.board.emulation.kernel import EmulatedTree, reboot
from profiling.board.sysfs import STATE_FILE, BoardRules, SysfsBoard
from profiling.errors import BoardError
from profiling.knobs import Knobs
from tests.board.conftest import board_of, put
from tests.contracts_board import BoardContract

FAST = Knobs(12, 2201600, 1300500, 3199000)
SLOW = Knobs(3, 268800, 216750, 665600)


class TestOrin(BoardContract):
    def make(self, tmp_path):
        return board_of("agx-orin", tmp_path)


class TestXavier(BoardContract):
    def make(self, tmp_path):
        return board_of("agx-xavier", tmp_path)


class TestNanoWithItsOverrideClock(BoardContract):
    def make(self, tmp_path):
        return board_of("nano", tmp_path)


class TestJetPack7WithBwmgr(BoardContract):
    def make(self, tmp_path):
        return board_of("orin-nano-8gb-super", tmp_path, bwmgr=True)


class TestPlainFilesWithoutAKernelBehind(BoardContract):
    def make(self, tmp_path):
        return board_of("xavier-nx", tmp_path, kernel=False)


class Recorder(EmulatedTree):
    """Writes down every write, to show the order the kernel saw."""

    def __init__(self, root):
        super().__init__(root)
        self.writes = []

    def write(self, path, value):
        self.writes.append((path.split("/")[-1], path, str(value)))
        super().write(path, value)


def test_a_clock_is_held_by_maximum_up_minimum_then_maximum_down(root):
    tree = Recorder(root)
    SysfsBoard(root, tree=tree).apply(SLOW)
    gpu = [(name, value) for name, path, value in tree.writes if "ga10b" in path and "freq" in name]
    assert gpu == [("max_freq", "1300500000"), ("min_freq", "216750000"), ("max_freq", "216750000")]


def test_the_memory_is_locked_before_its_rate_is_set(root):
    tree = Recorder(root)
    SysfsBoard(root, tree=tree).apply(SLOW)
    names = [name for name, path, _ in tree.writes if "emc" in path]
    assert names == ["emc_iso_cap", "mrq_rate_locked", "state", "rate"]


def test_core_0_is_never_written(root):
    tree = Recorder(root)
    board = SysfsBoard(root, tree=tree)
    for cores in (1, 12, 5):
        board.apply(SLOW._replace(cores=cores))
    board.restore()
    assert not any(path.endswith("cpu0/online") for _, path, _ in tree.writes)


def test_tx2_brings_its_a57_cores_before_the_denvers(tmp_path):
    board = board_of("tx2", tmp_path)
    board.apply(board.ranges().maximum._replace(cores=4))
    assert board.cpu.online() == (0, 3, 4, 5)


def test_the_state_is_on_disk_before_the_first_write(root):
    seen = []

    class Watcher(EmulatedTree):
        def write(self, path, value):
            seen.append((root / STATE_FILE).exists())
            super().write(path, value)

    SysfsBoard(root, tree=Watcher(root)).apply(SLOW)
    assert all(seen)


def test_a_board_left_by_a_killed_process_is_put_back_by_the_next(root):
    found = board_of("agx-orin", root).current()
    script = (
        "import os, signal; from pathlib import Path\n"
        "from tests.board.test_sysfs import SLOW, board_of\n"
        f"board_of('agx-orin', Path({str(root)!r})).apply(SLOW)\n"
        "print('applied', flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    died = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=os.getcwd())
    assert (died.returncode, died.stdout) == (-signal.SIGKILL, b"applied\n")
    board = board_of("agx-orin", root)
    assert board.current() == SLOW
    assert board.journal.pending
    board.restore()
    assert board.current() == found
    assert board_of("agx-orin", root).journal.pending is False


def test_a_torn_last_line_of_the_state_is_ignored(root):
    board = board_of("agx-orin", root)
    found = board.current()
    board.apply(SLOW)
    with (root / STATE_FILE).open("a") as file:
        file.write('{"path": "sys/devi')
    again = board_of("agx-orin", root)
    again.restore()
    assert again.current() == found


@pytest.mark.parametrize("text", ["", "[]\n", "\x00garbage", '{"boot": "emulated-boot-0"}\n{"path": 1}\n'])
def test_a_state_file_of_nonsense_is_no_state(root, text):
    (root / STATE_FILE).parent.mkdir(parents=True, exist_ok=True)
    (root / STATE_FILE).write_text(text)
    assert not board_of("agx-orin", root).journal.pending


def test_no_knob_is_turned_when_the_state_cannot_be_saved(root):
    tree = Recorder(root)
    (root / "file").write_text("not a folder")
    board = SysfsBoard(root, tree=tree, state_file=root / "file/state.jsonl")
    with pytest.raises(BoardError, match="no knob was turned"):
        board.apply(SLOW)
    assert tree.writes == []


def test_a_reboot_makes_the_saved_state_void(root):
    board_of("agx-orin", root).apply(SLOW)
    reboot(EmulatedTree(root))
    assert not board_of("agx-orin", root).journal.pending
    assert not (root / STATE_FILE).exists()


def test_offline_cores_found_at_first_are_offline_again(root):
    tree = EmulatedTree(root)
    for core in range(4, 12):
        tree.write(f"sys/devices/system/cpu/cpu{core}/online", 0)
    board = SysfsBoard(root, tree=tree)
    board.apply(FAST)
    board.restore()
    assert board.cpu.online() == (0, 1, 2, 3)
    assert [high for _, _, high in board.cpu.limits()] == [1728000]


def test_restore_names_what_the_kernel_would_not_take_back(root):
    class Stubborn(EmulatedTree):
        broken = False

        def write(self, path, value):
            if self.broken and path.endswith("railgate_enable"):
                raise BoardError(f"/{path}: writing {value} failed: Input/output error")
            super().write(path, value)

    tree = Stubborn(root)
    board = SysfsBoard(root, tree=tree)
    board.apply(SLOW)
    tree.broken = True
    with pytest.raises(BoardError, match=r"railgate_enable \(was 1\)"):
        board.restore()
    assert board.current().cores == 12


@pytest.mark.parametrize(
    ("caps", "what"),
    [
        ({"cpu": 1190400}, "cpufreq: asked for 2201600, the kernel settled on 1190400"),
        ({"gpu": 930750}, "asked for 1300500000, the kernel settled on 930750000"),
        ({"mem": 2133000}, "memory clock: asked for 3199000, the kernel settled on 2133000"),
    ],
)
def test_a_refused_clock_is_named_with_what_the_kernel_settled_on(root, caps, what):
    board = SysfsBoard(root, tree=EmulatedTree(root, caps))
    with pytest.raises(BoardError, match=what):
        board.apply(FAST)


def test_a_memory_rate_the_kernel_ignores_in_silence_is_noticed(root):
    board = board_of("agx-orin", root)
    assert 665600 in board.ranges().mem_khz
    put(root, "sys/kernel/debug/bpmp/debug/emc/possible_rates", "204000 2133000 3199000 (kHz)")
    with pytest.raises(BoardError, match="memory clock: asked for 665600, the kernel settled on 3199000"):
        board.apply(SLOW)


def test_a_memory_clock_the_table_cuts_short_is_set_exactly(tmp_path):
    board = board_of("agx-xavier", tmp_path)
    assert 1065600 in board.ranges().mem_khz
    board.apply(Knobs(8, 2265600, 1377000, 1065600))
    assert (tmp_path / "sys/kernel/debug/bpmp/debug/clk/emc/rate").read_text().strip() == "1065599999"


def test_a_clock_printed_a_little_off_is_the_nearest_step(root):
    board = board_of("agx-orin", root)
    board.apply(SLOW)
    put(root, "sys/class/devfreq/17000000.ga10b/max_freq", "216000000")
    assert board.current().gpu_khz == 216750


def test_the_fan_is_held_and_put_back(root):
    board = SysfsBoard(root, fan_duty=255)
    board.apply(SLOW)
    assert (root / "sys/class/hwmon/hwmon0/pwm1").read_text().strip() == "255"
    board.restore()
    assert (root / "sys/class/hwmon/hwmon0/pwm1").read_text().strip() == "80"


def test_a_closed_debugfs_leaves_the_memory_clock_unknown(root):
    (root / "sys/kernel/debug").rename(root / "closed")
    board = SysfsBoard(root, BoardRules(mem_khz=(204000, 3199000)))
    assert "debugfs is readable by root alone" in board.read().unknown["mem_khz"]
    with pytest.raises(BoardError, match="cannot set 204000 kHz"):
        board.apply(Knobs(4, 268800, 216750, 204000))


def test_a_tree_that_is_no_jetson_says_so(tmp_path):
    with pytest.raises(BoardError, match="lists no CPU"):
        SysfsBoard(tmp_path)
    (tmp_path / "sys/devices/system/cpu/cpu0").mkdir(parents=True)
    with pytest.raises(BoardError, match=f"no GPU under {tmp_path}/sys"):
        SysfsBoard(tmp_path)
