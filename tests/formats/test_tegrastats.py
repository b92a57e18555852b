"""Lines of our own making, in the syntax of each generation."""

import numpy as np
import pytest

from profiling.formats import FormatError, detect, read
from profiling.formats.tegrastats import parse_line

NANO = (
    "RAM 400/4000MB (lfb 700x4MB) SWAP 1/2000MB (cached 0MB) IRAM 0/256kB(lfb 256kB) "
    "CPU [1%@204,2%@204,off,off] "
    "EMC_FREQ 5%@1600 GR3D_FREQ 7%@76 APE 25 PLL@21.5C CPU@24C PMIC@100C POM_5V_IN 1500/1400 POM_5V_GPU 0/0"
)
XAVIER = (
    "RAM 1/2MB (lfb 1x4MB) CPU [3%@1190,off] EMC_FREQ 0% GR3D_FREQ 4% AO@30C GPU 10/11 CPU 200/210 SYS5V 9/8"
)
ORIN = (
    "02-03-2024 10:00:01 RAM 9/30000MB (lfb 1x4MB) CPU [0%@729,off] EMC_FREQ 1%@2133 GR3D_FREQ 8%@306 "
    "NVJPG1 729 NVENC off VIC_FREQ 115 CV0@-256C cpu@40.5C VDD_GPU_SOC 2000mW/1900mW NC 0mW/0mW "
    "VIN_SYS_5V0 3mW/4mW"
)
JETPACK_7 = (
    "EMC_FREQ 3%@3199 GR3D_FREQ 12%@[1300,1290] VIC_FREQ 2%@115 gpu@47.5C/48.5C "
    "VDD_CPU_CV 3000mW/2900mW/3500mW"
)
THOR = "EMC_FREQ 0%@2750 GR3D_FREQ @[314,315,316] VDD_GPU -3mW/0mW VIN 19000mW/18000mW"
TX2 = "RAM 1/2MB (lfb 1x4MB) CPU [1%@345] GR3D_FREQ 0%@140 MTS fg 1% bg 2% BCPU@30C VDD_IN 1300/1383"


def told(line):
    _, row = parse_line(line)
    return row


def test_nano():
    row = told(NANO)
    assert (row["power_pom_5v_in_mw"], row["power_pom_5v_in_avg_mw"]) == (1500, 1400)
    assert (row["load_cpu1_pct"], row["cpu1_khz"], row["load_cpu2_pct"], row["cores_online"]) == (
        2,
        204000,
        None,
        2,
    )
    assert (row["mem_khz"], row["load_emc_pct"], row["gpu_khz"]) == (1600000, 5, 76000)
    assert (row["ram_used_mb"], row["ram_lfb"], row["iram_total_mb"]) == (400, "700x4MB", 0.25)
    assert (row["ape_khz"], row["temp_cpu_c"]) == (25000, 24)
    assert "other" not in row


def test_agx_xavier_says_loads_without_clocks():
    row = told(XAVIER)
    assert (row["power_cpu_mw"], row["power_gpu_mw"], row["power_sys5v_mw"]) == (200, 10, 9)
    assert row["load_gpu_pct"] == 4
    assert "gpu_khz" not in row


def test_agx_orin_with_what_is_off_or_absent():
    stamp, row = parse_line(ORIN)
    assert stamp.isoformat() == "2024-02-03T10:00:01"
    assert np.isnan(row["temp_cv0_c"])
    assert (row["nvenc_khz"], row["nvjpg1_khz"], row["vic_khz"]) == (None, 729000, 115000)
    assert row["power_vdd_gpu_soc_mw"] == 2000
    assert not any("_nc_" in name for name in row)


def test_jetpack_7_with_three_numbers_a_rail_and_a_clock_array():
    row = told(JETPACK_7)
    assert [row[f"power_vdd_cpu_cv_{what}mw"] for what in ("", "avg_", "peak_")] == [3000, 2900, 3500]
    assert (row["load_gpu_pct"], row["gpu_khz"], row["gpu1_khz"]) == (12, 1300000, 1290000)
    assert (row["temp_gpu_c"], row["temp_gpu_max_c"]) == (47.5, 48.5)


def test_thor_says_clocks_without_a_load():
    row = told(THOR)
    assert (row["load_gpu_pct"], row["gpu2_khz"], row["power_vdd_gpu_mw"], row["power_vin_mw"]) == (
        None,
        316000,
        -3,
        19000,
    )


def test_tx2():
    row = told(TX2)
    assert (row["mts_fg_pct"], row["mts_bg_pct"], row["power_vdd_in_mw"]) == (1, 2, 1300)


def test_fields_we_do_not_know_are_kept():
    assert told(f"{TX2} WARP 9 sigma")["other"] == "WARP 9 sigma"


def test_a_date_before_the_log_is_noted(write):
    later = ORIN.replace("10:00:01", "10:00:03")
    log = read(write("a.txt", f"Sat Feb  3 10:00:00 AM UTC 2024\n{ORIN}\n\n{later}\n"))
    assert [note.line for note in log.notes] == [1]
    assert log.columns["time_s"].tolist() == [0, 2]
    assert (log.lines.tolist(), log.problem_count, log.started) == ([2, 4], 0, "2024-02-03T10:00:01")


def test_lines_without_a_time_say_so_until_told_the_interval(write):
    path = write("a.txt", f"{TX2}\n{TX2}\n")
    assert "time_s" in read(path).unknown
    assert read(path).telemetry() == {}
    assert read(path, interval_s=0.5).telemetry()["time_s"].tolist() == [0, 0.5]


def test_bad_lines_and_clocks_that_go_back_are_named(write):
    earlier = ORIN.replace("10:00:01", "09:59:59")
    log = read(write("a.txt", f"{ORIN}\nsudo: command not found\n{earlier}\n"))
    assert [(problem.line, problem.reason) for problem in log.problems] == [
        (2, "is no tegrastats line"),
        (3, "goes back in time"),
    ]
    assert len(log) == 1


def test_unknown_cells_are_none_in_telemetry(write):
    log = read(write("a.txt", f"{ORIN}\n"))
    assert np.isnan(log.telemetry()["temp_cv0_c"]).all()


def test_it_is_recognised_by_content(write):
    assert detect(write("a.csv", f"{NANO}\n")).name == "tegrastats"
    with pytest.raises(FormatError):
        read(write("b.txt", "EMC_FREQ \n"))


def test_the_public_lines_of_every_generation(shared_data):
    log = read(shared_data / "tegrastats/lines.txt")
    assert (len(log), log.problem_count) == (6, 0)
    assert "other" not in log.columns
    assert np.nansum(log.columns["power_vin_sys_5v0_mw"]) == 3522 + 5500 + 5635


@pytest.mark.parametrize(
    ("name", "rows", "rail"),
    [
        ("agx_orin_jp6_resnet152_maxn", 853, "VIN_SYS_5V0"),
        ("tx2_jp4_vgg19", 621, "VDD_IN"),
    ],
)
def test_the_public_logs_come_in_whole(shared_data, name, rows, rail):
    path = shared_data / f"tegrastats/{name}.txt"
    log = read(path)
    cells = [line.split(f"{rail} ")[1] for line in path.read_text().splitlines() if rail in line]
    truth = sum(int(cell.split("/")[0].removesuffix("mW")) for cell in cells)
    assert (len(log), log.problem_count) == (rows, 0)
    assert log.columns[f"power_{rail.lower()}_mw"].sum() == truth
    assert "other" not in log.columns


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_hundreds_of_digits_is_a_bad_line(write, digits):
    good = "RAM 2/3MB CPU [1%@100] VDD_IN 10mW/10mW"
    log = read(write("a.txt", f"{good}\n{good.replace('10mW/', '9' * digits + 'mW/')}\n"), interval_s=1)
    assert [(problem.line, problem.reason) for problem in log.problems] == [(2, "is no tegrastats line")]
