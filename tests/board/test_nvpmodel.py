import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.errors import InvalidInput
from profiling.knobs import Knobs
from profiling.nvpmodel import (
    capped_knobs,
    differences,
    needs_reboot,
    parse,
    power_model_block,
    with_mode,
)
from profiling.nvpmodel_lint import lint
from profiling.soc import knob_range
from tests.board.conftest import ENTRIES

MODE = Knobs(8, 1728000, 624750, 2133000)

CONF = """\
# our own file, in NVIDIA's syntax
< PARAM TYPE=FILE NAME=CPU_ONLINE >
CORE_0 /sys/devices/system/cpu/cpu0/online
CORE_1 /sys/devices/system/cpu/cpu1/online

< PARAM TYPE=FILE NAME=TPC_POWER_GATING >
TPC_PG_MASK /sys/devices/gpu.0/tpc_pg_mask

< PARAM TYPE=FILE NAME=GPU_POWER_CONTROL_ENABLE >
GPU_PWR_CNTL_EN /sys/devices/gpu.0/power/control

< PARAM TYPE=CLOCK NAME=CPU_A78_0 >
MAX_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq
MIN_FREQ /sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq

<PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap

< POWER_MODEL ID=0 NAME=MAXN >
CPU_ONLINE CORE_0 1
CPU_ONLINE CORE_1 1
TPC_POWER_GATING TPC_PG_MASK 0
CPU_A78_0 MAX_FREQ -1
EMC MAX_FREQ 0

< POWER_MODEL ID=1 NAME=MODE_15W >
CPU_ONLINE CORE_0 1
CPU_ONLINE CORE_1 0
TPC_POWER_GATING TPC_PG_MASK 248
CPU_A78_0 MAX_FREQ 1113600
EMC MAX_FREQ 2133000000

< PM_CONFIG DEFAULT=1 >
"""


def messages(text, entry):
    return [finding.message for finding in lint(parse(text), knob_range(entry))]


def test_it_reads_parameters_modes_and_default():
    conf = parse(CONF)
    assert conf.parameters["CPU_A78_0"]["MIN_FREQ"].endswith("cpu0/cpufreq/scaling_min_freq")
    assert [(mode.mode_id, mode.name) for mode in conf.modes] == [(0, "MAXN"), (1, "MODE_15W")]
    assert conf.default_id == 1


def test_it_reads_a_header_without_its_space_and_says_so():
    conf = parse(CONF)
    assert "EMC" in conf.parameters
    assert [(p.severity, p.line) for p in conf.problems] == [("warning", 16)]


def test_a_lifted_cap_is_the_boards_maximum(orin):
    maxn, low = parse(CONF).modes
    assert capped_knobs(maxn, orin) == Knobs(2, 2201600, 1300500, 3199000)
    assert capped_knobs(low, orin) == Knobs(1, 1113600, 1300500, 2133000)


@pytest.mark.parametrize("slug", ENTRIES)
def test_a_written_block_reads_back_as_the_same_knobs(slug):
    entry = ENTRIES[slug]
    modes = knob_range(entry).all_modes()
    for row in modes[:: max(1, len(modes) // 40)]:
        knobs = Knobs(*map(int, row))
        block = power_model_block(entry, knobs, mode_id=4, name="OURS")
        (mode,) = parse(block).modes
        assert capped_knobs(mode, entry) == knobs
        assert lint(parse(block), knob_range(entry)) == []


def test_an_entry_in_kilohertz_writes_the_same_block(orin):
    stored = {key: value for key, value in orin.items() if not key.endswith("_hz")}
    stored |= {
        "gpu_khz": [hz // 1000 for hz in orin["gpu_hz"]],
        "mem_khz": [hz // 1000 for hz in orin["emc_hz"]],
    }
    assert power_model_block(stored, MODE, mode_id=4, name="A") == power_model_block(
        orin, MODE, mode_id=4, name="A"
    )


def test_tx2_keeps_its_a57_cores_and_drops_the_denvers():
    block = power_model_block(ENTRIES["tx2"], Knobs(4, 2035200, 1300500, 1866000), mode_id=5, name="FOUR")
    assert "CPU_ONLINE CORE_1 0" in block
    assert "CPU_ONLINE CORE_5 1" in block
    assert "CPU_DENVER" not in block


def test_a_block_writes_no_clock_of_an_offline_cluster(orin):
    block = power_model_block(orin, MODE._replace(cores=4), mode_id=4, name="FOUR")
    assert "CPU_A78_0 MAX_FREQ 1728000" in block
    assert "CPU_A78_1" not in block


def test_with_the_boards_file_a_block_keeps_its_default_masks_and_names(orin):
    block = power_model_block(orin, MODE, mode_id=2, name="OURS", conf=parse(CONF))
    assert "TPC_POWER_GATING TPC_PG_MASK 248" in block
    assert "GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on" in block
    assert "CPU_A78_1" not in block


def test_the_fastest_memory_clock_is_written_as_no_cap(orin):
    block = power_model_block(orin, MODE._replace(mem_khz=3199000), mode_id=4, name="FAST")
    assert "EMC MAX_FREQ 0\n" in block


@pytest.mark.parametrize("knobs", [MODE._replace(gpu_khz=600000), MODE._replace(cores=13)])
def test_it_refuses_to_write_what_nvpmodel_would_round(orin, knobs):
    with pytest.raises(InvalidInput, match="not a power mode of Jetson AGX Orin"):
        power_model_block(orin, knobs, mode_id=4, name="OURS")


def test_it_refuses_a_name_jtop_cannot_read(orin):
    with pytest.raises(InvalidInput, match="letters, digits and underscores"):
        power_model_block(orin, MODE, mode_id=4, name="my-mode")


def test_a_mode_is_added_before_the_default_and_nothing_else_changes(orin):
    block = power_model_block(orin, MODE, mode_id=2, name="OURS")
    text = with_mode(CONF, block)
    assert [mode.name for mode in parse(text).modes] == ["MAXN", "MODE_15W", "OURS"]
    assert text.replace(block + "\n", "") == CONF
    assert parse(text).default_id == 1


def test_another_gpu_mask_needs_a_reboot():
    maxn, low = parse(CONF).modes
    assert needs_reboot(maxn, low)
    assert not needs_reboot(low, low)


def test_a_mode_that_sets_no_mask_never_needs_a_reboot(orin):
    (ours,) = parse(power_model_block(orin, MODE, mode_id=2, name="OURS")).modes
    assert not needs_reboot(parse(CONF).modes[0], ours)


def test_differences_name_each_setting_that_changes():
    changed = {key: (old, new) for key, old, new in differences(*parse(CONF).modes)}
    assert changed["CPU_A78_0 MAX_FREQ"] == ("-1", "1113600")
    assert "CPU_ONLINE CORE_0" not in changed


BLOCK = "< POWER_MODEL ID=0 NAME=A >\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (BLOCK + "CPU_ONLINE CORE_0 0", "CORE_0 cannot be switched off"),
        (BLOCK + "CPU_ONLINE CORE_12 1", "this board has cores 0 to 11"),
        (BLOCK + "CPU_ONLINE CORE_1 yes", "use 0 or 1"),
        (BLOCK + "GPU MAX_FREQ 600000000", "nearest is 624750000"),
        (BLOCK + "GPU MAX_FREQ 624750", "wrong unit"),
        (BLOCK + "CPU_A78_0 MAX_FREQ 1728000000", "rounded in silence"),
        (BLOCK + "EMC MAX_FREQ 3199000000", "2^31 - 1"),
        (BLOCK + "GPU MAX_FREQ fast", "is no clock"),
        (BLOCK + "GPU MIN_FREQ 624750000\nGPU MAX_FREQ 420750000", "is above MAX_FREQ"),
        (BLOCK + BLOCK, "id 0 is used 2 times"),
        ("< POWER_MODEL ID=0 NAME=my-mode >", "jtop reads only"),
        ("< POWER_BUDGET 20 >", "opens no section"),
        (" < POWER_MODEL ID=0 NAME=A >", "at the line's start"),
        (BLOCK + "GPU MAX_FREQ", "is not 'PARAMETER ARGUMENT VALUE'"),
        ("GPU MAX_FREQ 624750000", "in a section"),
        (CONF.replace("DEFAULT=1", "DEFAULT=7"), "names no mode"),
        (CONF.replace("< PM_CONFIG DEFAULT=1 >", ""), "boot mode"),
        (CONF.replace("ID=1", "ID=14"), "jtop service crashes"),
        (CONF.replace("EMC MAX_FREQ 0", "EMC MIN_FREQ 0"), "not defined by any PARAM"),
    ],
)
def test_lint_names_what_will_go_wrong(text, wanted, orin):
    assert any(wanted in message for message in messages(text, orin)), messages(text, orin)


def test_lint_passes_a_sound_file_but_for_its_untidy_header(orin):
    assert len(messages(CONF, orin)) == 1


@given(st.text(alphabet="<> POWER_MODELID=01 NAMECPU\n#", max_size=200))
def test_no_text_can_make_the_reader_or_the_linter_fail(text):
    lint(parse(text), knob_range(ENTRIES["agx-orin"]))
