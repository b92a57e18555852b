"""The emulated kernel must be as unkind as a real one, or the driver's care would go untested."""

import pytest

from profiling.board.emulation.kernel import EmulatedTree, reboot
from profiling.board.emulation.layout import build
from profiling.errors import BoardError
from tests.board.conftest import ENTRIES

CPU = "sys/devices/system/cpu"
GPU = "sys/class/devfreq/17000000.ga10b"
EMC = "sys/kernel/debug/bpmp/debug/clk/emc"


@pytest.fixture
def tree(tmp_path, orin):
    build(orin, tmp_path)
    return EmulatedTree(tmp_path)


def test_a_minimum_above_the_maximum_is_refused(tree):
    with pytest.raises(BoardError, match="Invalid argument"):
        tree.write(f"{CPU}/cpu0/cpufreq/scaling_min_freq", 2201600)
    with pytest.raises(BoardError, match="Invalid argument"):
        tree.write(f"{GPU}/min_freq", 1300500000)


def test_cores_of_a_cluster_share_their_limits(tree):
    tree.write(f"{CPU}/cpu5/cpufreq/scaling_max_freq", 1190400)
    limits = [tree.number(f"{CPU}/cpu{core}/cpufreq/scaling_max_freq") for core in (3, 4, 7, 8)]
    assert limits == [1728000, 1190400, 1190400, 1728000]


def test_a_core_that_is_off_has_no_clock_files_but_follows_its_cluster(tree):
    tree.write(f"{CPU}/cpu6/online", 0)
    assert not tree.exists(f"{CPU}/cpu6/cpufreq")
    tree.write(f"{CPU}/cpu4/cpufreq/scaling_max_freq", 1190400)
    tree.write(f"{CPU}/cpu6/online", 1)
    assert tree.number(f"{CPU}/cpu6/cpufreq/scaling_max_freq") == 1190400


def test_core_0_has_no_switch(tree):
    with pytest.raises(BoardError, match="No such file"):
        tree.write(f"{CPU}/cpu0/online", 0)


def test_a_gpu_clock_off_the_table_falls_to_the_step_below(tree):
    tree.write(f"{GPU}/max_freq", 600000000)
    assert tree.number(f"{GPU}/max_freq") == tree.number(f"{GPU}/cur_freq") == 522750000


@pytest.mark.parametrize(("locked", "rate"), [(0, 2133000000), (1, 2100000000)])
def test_an_unlocked_or_unknown_memory_rate_is_accepted_and_ignored(tree, locked, rate):
    tree.write(f"{EMC}/mrq_rate_locked", locked)
    tree.write(f"{EMC}/rate", rate)
    assert tree.number(f"{EMC}/rate") == 3199000000


def test_a_locked_memory_rate_of_the_table_is_set(tree):
    tree.write(f"{EMC}/mrq_rate_locked", 1)
    tree.write(f"{EMC}/rate", 2133000000)
    assert tree.number(f"{EMC}/rate") == 2133000000


def test_a_firmware_cap_lowers_in_silence(tmp_path, orin):
    build(orin, tmp_path)
    tree = EmulatedTree(tmp_path, {"cpu": 1190400})
    tree.write(f"{CPU}/cpu0/cpufreq/scaling_max_freq", 2201600)
    assert tree.number(f"{CPU}/cpu0/cpufreq/scaling_max_freq") == 1190400


def test_each_reboot_has_its_own_number(tree):
    seen = set()
    for _ in range(3):
        reboot(tree)
        seen.add(tree.text("proc/sys/kernel/random/boot_id"))
    assert len(seen) == 3


@pytest.mark.parametrize("slug", ENTRIES)
def test_every_boards_rails_are_where_its_generation_keeps_them(slug, tmp_path):
    build(ENTRIES[slug], tmp_path)
    new = list(tmp_path.glob("sys/bus/i2c/drivers/ina3221/*/hwmon/hwmon*/in*_label"))
    old = list(tmp_path.glob("sys/bus/i2c/drivers/ina3221x/*/iio:device*/rail_name_*"))
    assert bool(new) != bool(old)
    assert bool(new) == (ENTRIES[slug]["soc"] == "T234")
