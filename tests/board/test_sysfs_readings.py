"""What the real driver reads of power, temperature and throttling, and what a sensor can do wrong."""

import pytest

from profiling.board.sysfs import SysfsBoard
from tests.board.conftest import board_of, put

RAIL_CHIP = "sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3"


@pytest.mark.parametrize("text", ["", "garbage"])
def test_a_sensor_that_fails_is_unknown_with_the_reason(root, text):
    put(root, f"{RAIL_CHIP}/curr2_input", text)
    reading = board_of("agx-orin", root).read()
    assert reading.rails_mw["VDD_CPU_CV"] is None
    assert "curr2_input" in reading.unknown["VDD_CPU_CV"]
    assert reading.total_mw is None
    assert reading.unknown["total_mw"] == "no reading of VDD_CPU_CV"
    assert reading.rails_mw["VIN_SYS_5V0"] == 0


def test_a_sensor_that_is_gone_is_unknown_and_comes_back(root):
    board = board_of("agx-orin", root)
    path = root / f"{RAIL_CHIP}/in1_input"
    text = path.read_text()
    path.unlink()
    assert "No such file" in board.read().unknown["VDD_GPU_SOC"]
    path.write_text(text)
    assert "VDD_GPU_SOC" not in board.read().unknown


def test_agx_orins_total_leaves_out_the_memory_rail(root):
    for channel, milliamp in enumerate((100, 200, 300), start=1):
        put(root, f"{RAIL_CHIP}/curr{channel}_input", str(milliamp))
        put(root, f"{RAIL_CHIP}/in{channel}_input", "10000")
    put(root, "sys/bus/i2c/drivers/ina3221/1-0041/hwmon/hwmon4/curr2_input", "999")
    reading = board_of("agx-orin", root).read()
    assert reading.total_mw == 6000
    assert reading.total_rule == "VDD_GPU_SOC + VDD_CPU_CV + VIN_SYS_5V0"
    assert "NC" not in reading.rails_mw


def test_unknown_rails_are_kept_raw_and_no_total_is_made_up(root):
    for channel, label in enumerate(("ALPHA", "BETA", "BETA"), start=1):
        put(root, f"{RAIL_CHIP}/in{channel}_label", label)
    board = SysfsBoard(root)
    reading = board.read()
    assert {"ALPHA", "BETA", "BETA#2"} <= set(reading.rails_mw)
    assert reading.total_mw is None
    assert "no rule says which of ALPHA" in reading.unknown["total_mw"]


def test_a_tree_without_sensors_says_so(root):
    (root / "sys/bus/i2c/drivers/ina3221").rename(root / "away")
    assert "no power sensor" in SysfsBoard(root).read().unknown["total_mw"]


def test_thors_input_is_read_in_microwatts(root):
    folder = root / "sys/class/hwmon/hwmon9"
    folder.mkdir()
    (folder / "name").write_text("ina238\n")
    (folder / "power1_input").write_text("19780000\n")
    assert SysfsBoard(root).read().total_mw == 19780


def test_an_unpowered_zone_is_no_temperature(root):
    reading = SysfsBoard(root).read()
    assert reading.temperatures_c["cv0-thermal"] is None
    assert reading.unknown["cv0-thermal"] == "zone cv0-thermal is not powered"
    assert reading.temperatures_c["gpu-thermal"] == 30.0


def test_throttling_is_told_from_alarms_cooling_and_counters(root):
    cooling, counter = root / "sys/class/thermal/cooling_device0", root / "sys/class/hwmon/hwmon8"
    for folder, files in (
        (cooling, {"type": "cpu-throttle-alert", "cur_state": "0"}),
        (counter, {"name": "soctherm_oc", "oc1_event_cnt": "4"}),
    ):
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
    board = SysfsBoard(root)
    assert board.read().alarms == ()
    put(root, f"{RAIL_CHIP}/curr1_max_alarm", "1")
    (cooling / "cur_state").write_text("1")
    (counter / "oc1_event_cnt").write_text("5")
    assert board.read().alarms == ("curr1_max_alarm", "cpu-throttle-alert", "oc1_event_cnt")
    assert "oc1_event_cnt" not in board.read().alarms
