import json

import pytest

from profiling.board.emulation.layout import build
from profiling.board.register import closest, describe, l4t_version
from profiling.catalog import device_model_entries
from profiling.soc import knob_range
from tests.board.conftest import ENTRIES


@pytest.fixture
def root(tmp_path, orin):
    build(orin, tmp_path)
    return tmp_path


@pytest.mark.parametrize("slug", [slug for slug in ENTRIES if slug != "nano"])
def test_it_reads_a_boards_own_tables(slug, tmp_path):
    build(ENTRIES[slug], tmp_path)
    found, ranges = describe(tmp_path), knob_range(ENTRIES[slug])
    for name, values in vars(ranges).items():
        assert tuple(found[name]) == values
    assert tuple(found["rails"]) == tuple(ENTRIES[slug]["rails"])
    assert closest(found, device_model_entries()) == slug
    assert found["findings"] == []


def test_it_is_json(root):
    assert json.loads(json.dumps(describe(root))) == describe(root)


def test_it_tells_the_software(root):
    found = describe(root)
    assert (found["l4t"], found["jetpack"], found["governor"]) == ("35.4.1", 5, "schedutil")
    assert found["product"].endswith("(emulated)")
    assert found["clusters"] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_it_reads_stock_modes_from_the_boards_own_file(root):
    found = describe(root)
    maxn, low, middle, _ = found["presets"]
    assert (maxn["name"], maxn["cores"], maxn["mem_khz"]) == ("MAXN", 12, 3199000)
    assert (low["cpu_khz"], low["gpu_khz"], low["mem_khz"]) == (1113600, 420750, 2133000)
    assert middle["default"]
    assert found["mode_id"] == 2
    assert found["findings"] == []


def test_a_mode_with_another_mask_asks_for_a_reboot(tmp_path):
    build(ENTRIES["orin-nano-8gb"], tmp_path)
    assert [preset["reboot"] for preset in describe(tmp_path)["presets"]] == [False, True]


def test_a_table_the_kernel_does_not_list_is_unknown_with_the_reason(tmp_path):
    build(ENTRIES["nano"], tmp_path)
    found = describe(tmp_path)
    assert found["mem_khz"] is None
    assert "take them from the device model" in found["unknown"]["mem_khz"]
    assert "need all four clock tables" in found["unknown"]["presets"]


def test_an_empty_folder_is_described_as_all_unknown(tmp_path):
    found = describe(tmp_path)
    known = {name for name, value in found.items() if value and name != "unknown"}
    assert known == set()
    assert {"cores", "gpu_khz", "rails", "nvpmodel", "l4t", "jetpack"} <= set(found["unknown"])
    assert closest(found, device_model_entries()) is None


@pytest.mark.parametrize(
    ("path", "text", "unknown"),
    [
        ("etc/nv_tegra_release", "# R99 soon", "l4t"),
        ("etc/nv_tegra_release", "# R77 (release), REVISION: 1.0", "jetpack"),
        ("var/lib/nvpmodel/status", "fmode:fanNull", "mode_id"),
        ("sys/kernel/debug/bpmp/debug/emc/possible_rates", "", "mem_khz"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "\n", "governor"),
    ],
)
def test_whatever_is_strange_is_unknown_and_the_rest_is_read(root, path, text, unknown):
    (root / path).write_text(text)
    found = describe(root)
    assert found[unknown] is None
    assert found["unknown"][unknown]
    assert found["cpu_khz"]


def test_a_strange_nvpmodel_file_is_kept_with_its_findings(root):
    (root / "etc/nvpmodel.conf").write_text("< POWER_BUDGET 20 >\nGPU 5\n")
    found = describe(root)
    assert found["presets"] == []
    assert len(found["findings"]) >= 2
    assert found["nvpmodel"].startswith("< POWER_BUDGET")


def test_releases_are_read_as_nvidia_prints_them():
    line = "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64"
    assert l4t_version(line) == "36.4.3"
