import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from profiling.board.emulated import EmulatedBoard
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.kernel import EmulatedTree
from profiling.board.emulation.layout import build
from profiling.board.jtop import JtopBoard
from profiling.board.sysfs import BoardRules
from tests.board.conftest import ENTRIES
from tests.contracts_board import BoardContract

jtop = pytest.importorskip("jtop", reason="jetson-stats is not installed")


def rail(milliwatts, online=True):
    return {"volt": 5000, "curr": milliwatts // 5, "power": milliwatts, "avg": 1, "online": online}


class PaperClient:
    """jtop's shapes, with the cores of the tree beside it."""

    def __init__(self, cpu=None):
        self._cpu, self.error, self.running = cpu, None, True
        rails = {"VDD_GPU_SOC": rail(9000), "VDD_CPU_CV": rail(2000), "VIN_SYS_5V0": rail(5000)}
        self.power = {"rail": {**rails, "VDDQ_VDD2_1V8AO": rail(900)}, "tot": {"power": 16900, "avg": 1}}
        self.gpu = {"ga10b": {"type": "integrated", "status": {"load": 55.0}, "freq": {"cur": 624750}}}
        self.memory = {"EMC": {"cur": 3199000, "val": 20}}
        self.temperature = {"cpu": {"temp": 44.5, "online": True}, "cv0": {"temp": -256, "online": False}}

    @property
    def cpu(self):
        on = {"online": True, "freq": {"cur": 1728000}, "idle": 75.0}
        return {"cpu": [on if self._cpu.is_online(core) else {"online": False} for core in self._cpu.cores]}

    def ok(self, spin=False):
        if self.error:
            raise self.error
        return self.running

    def close(self):
        self.running = False


def paper_board(root):
    build(ENTRIES["agx-orin"], root)
    client = PaperClient()
    board = JtopBoard(root, BoardRules(), tree=EmulatedTree(root), client=client)
    client._cpu = board.cpu
    return board


class TestJtopBoard(BoardContract):
    def make(self, tmp_path):
        return paper_board(tmp_path)


@pytest.fixture
def board(tmp_path):
    return paper_board(tmp_path)


def test_its_total_does_not_count_the_memory_twice_as_jtops_does(board):
    reading = board.read()
    assert reading.total_mw == 16000
    assert board.client.power["tot"]["power"] == 16900


def test_an_input_rail_that_jtop_hides_in_its_total_is_a_rail_again(board):
    board.client.power = {
        "rail": {"VDD_SOC": rail(1500)},
        "tot": {"name": "VDD_IN", "power": 7140, "volt": 5000, "curr": 1428, "avg": 9},
    }
    reading = board.read()
    assert reading.rails_mw == {"VDD_SOC": 1500, "VDD_IN": 7140}
    assert (reading.total_mw, reading.total_rule) == (7140, "VDD_IN")


def test_it_reads_clocks_loads_and_temperatures(board):
    reading = board.read()
    assert (reading.gpu_khz, reading.mem_khz, reading.cpu_khz[0]) == (624750, 3199000, 1728000)
    assert (reading.utilisation["gpu"], reading.utilisation["cpu3"]) == (55.0, 25.0)
    assert reading.temperatures_c == {"cpu": 44.5, "cv0": None}


def test_a_memory_clock_jtop_lacks_comes_from_the_kernel(board):
    board.client.memory = {}
    assert board.read().mem_khz == board.emc.clock()


def test_a_lost_service_makes_everything_unknown_with_the_reason(board):
    board.client.error = jtop.JtopException("Lost connection with jtop server")
    assert "Lost connection" in board.read().unknown["total_mw"]
    board.client.error, board.client.running = None, False
    assert "no more samples" in board.read().unknown["total_mw"]


def namespace_obstacle():
    """Why the real service cannot run here, or None."""
    if os.getuid() != 0:
        return "the jtop service and a mount namespace need root"
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"]).returncode:
        return "no mount namespaces on this machine"
    return None


NAMESPACE = """
set -e
mount --bind {run} /run
mount --bind {group} /etc/group
mount --bind {stat} /proc/stat
mount --bind {sys} /sys
{python} -m tests.board.jtop_service {run}/config 2>{run}/service.log &
service=$!
trap 'kill $service; wait $service || true' EXIT
{python} -m tests.board.jtop_client
"""


@pytest.mark.skipif(namespace_obstacle() is not None, reason=str(namespace_obstacle()))
def test_the_real_service_is_read_on_an_emulated_orin(tmp_path):
    tree, run = tmp_path / "tree", tmp_path / "run"
    run.mkdir()
    board = EmulatedBoard(ENTRIES["agx-orin"], EmulatedWorkload("resnet18"), root=tree)
    board.clock.sleep(6)
    truth = board.read()
    group = tmp_path / "group"
    group.write_text(Path("/etc/group").read_text() + "jtop:x:61234:\n")
    script = NAMESPACE.format(
        run=run, group=group, stat=tree / "proc/stat", sys=tree / "sys", python=sys.executable
    )
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr + (run / "service.log").read_text()
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["before"]["total_mw"] == pytest.approx(truth.total_mw, abs=50)
    assert seen["before"]["total_rule"] == truth.total_rule
    assert seen["before"]["online"] == 8
    assert seen["after"]["online"] == 6
    assert seen["after"]["mem_khz"] == seen["applied"][3] == 2133000
    assert seen["put_back"]
