import os
import subprocess
import sys
import threading

import pytest

from profiling.board.emulation.layout import build
from profiling.board.host import HostBoard
from tests.board.conftest import ENTRIES
from tests.contracts_board import BoardContract


class TestHostBoard(BoardContract):
    def make(self, tmp_path):
        return HostBoard()


class TestHostBoardWithItsOwnClocks(BoardContract):
    def make(self, tmp_path):
        build(ENTRIES["orin-nano-8gb"], tmp_path)
        return HostBoard(tmp_path)


def test_a_clock_it_may_turn_is_a_knob_and_found_again_after_a_crash(tmp_path):
    build(ENTRIES["orin-nano-8gb"], tmp_path)
    board = HostBoard(tmp_path)
    assert len(board.ranges().cpu_khz) == 20
    found = board.current()
    board.apply(found._replace(cpu_khz=960000))
    again = HostBoard(tmp_path)
    assert again.current().cpu_khz == 960000
    again.restore()
    assert again.current() == found


@pytest.fixture
def rapl(tmp_path):
    folder = tmp_path / "sys/class/powercap/intel-rapl:0"
    folder.mkdir(parents=True)
    (folder / "name").write_text("package-0\n")
    (folder / "max_energy_range_uj").write_text("1000000\n")
    (folder / "energy_uj").write_text("900000\n")
    return folder


class Clock:
    time_s = 0.0

    def now(self):
        return self.time_s

    def sleep(self, seconds):
        self.time_s += seconds


@pytest.fixture
def one_core():
    board = HostBoard()
    board.apply(board.ranges().maximum._replace(cores=1))
    yield board
    board.restore()


def test_a_process_started_afterwards_inherits_the_cores(one_core):
    script = "import os; print(len(os.sched_getaffinity(0)))"
    assert subprocess.check_output([sys.executable, "-c", script]).split() == [b"1"]
    assert one_core.environment["OMP_NUM_THREADS"] == "1"


def test_a_thread_already_running_is_bound_too():
    board, seen, go = HostBoard(), [], threading.Event()
    thread = threading.Thread(target=lambda: go.wait(60) and seen.append(len(os.sched_getaffinity(0))))
    thread.start()
    board.apply(board.ranges().maximum._replace(cores=1))
    go.set()
    thread.join()
    board.restore()
    assert seen == [1]


def test_without_counters_power_is_unknown_and_says_why(tmp_path):
    reading = HostBoard(tmp_path).read()
    assert reading.total_mw is None
    assert reading.unknown["total_mw"] == "no RAPL energy counter on this machine"


def test_power_is_the_energy_gained_over_time(tmp_path, rapl):
    board = HostBoard(tmp_path, clock=Clock())
    assert board.read().unknown["package-0"].startswith("an energy counter needs two looks")
    board.clock.sleep(2.0)
    (rapl / "energy_uj").write_text("100000\n")  # it went round: 200 000 µJ in 2 s
    reading = board.read()
    assert reading.total_mw == pytest.approx(100.0)
    assert reading.total_rule == "package-0"


def test_a_counter_that_may_not_be_read_says_so(tmp_path, rapl):
    (rapl / "energy_uj").unlink()
    reading = HostBoard(tmp_path).read()
    assert reading.total_mw is None
    assert "energy_uj: No such file" in reading.unknown["package-0"]


def test_the_clock_comes_from_cpuinfo_where_cpufreq_is_absent(tmp_path):
    (tmp_path / "proc").mkdir()
    core = min(os.sched_getaffinity(0))
    (tmp_path / "proc/cpuinfo").write_text(f"processor\t: {core}\ncpu MHz\t\t: 2600.118\n")
    assert HostBoard(tmp_path).ranges().cpu_khz == (2600118,)
