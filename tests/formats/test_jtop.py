import numpy as np
import pandas as pd
import pytest

from profiling.formats import detect, read

HEADER = (
    "time,uptime,jetson_clocks,nvp model,CPU1,CPU2,GPU,EMC,Fan pwmfan0,"
    "Temp cpu,Temp cv0,Power VDD_IN,Power TOT"
)
FIRST = "2026-01-02 03:04:05.500,0 days 00:01:00,ON,MAXN,20,OFF,0,3,40.0,41.5,-256,4000,4100"
SECOND = "2026-01-02 03:04:06.500,0 days 00:01:01,ON,MAXN,30,OFF,90,3,40.0,42.5,-256,5000,5100"


def log_of(write, *rows):
    return read(write("jtop.csv", "\n".join([HEADER, *rows, ""])))


def test_its_names_become_ours(write):
    log = log_of(write, FIRST, SECOND)
    telemetry = log.telemetry()
    assert telemetry["time_s"].tolist() == [0, 1]
    assert telemetry["load_cpu0_pct"].tolist() == [20, 30]
    assert telemetry["power_vdd_in_mw"].tolist() == [4000, 5000]
    assert telemetry["power_total_mw"].tolist() == [4100, 5100]
    assert telemetry["nvp model"].to_pylist() == ["MAXN", "MAXN"]
    assert telemetry["Fan pwmfan0"].tolist() == [40, 40]


def test_off_and_minus_256_are_unknown(write):
    telemetry = log_of(write, FIRST, SECOND).telemetry()
    assert np.isnan(telemetry["load_cpu1_pct"]).all()
    assert np.isnan(telemetry["temp_cv0_c"]).all()


def test_repeated_sensor_rows_are_noted_and_left_out_of_telemetry(write):
    log = log_of(write, FIRST, FIRST, SECOND)
    assert log.repeated.tolist() == [False, True, False]
    assert [note.line for note in log.notes if note.line] == [3]
    assert len(log.telemetry()["time_s"]) == 2


def test_bad_rows_are_named(write):
    log = log_of(write, FIRST, SECOND.replace("5000", "lots"), "yesterday" + SECOND[23:], "1,2")
    assert [(problem.line, problem.column) for problem in log.problems] == [
        (3, "Power VDD_IN"),
        (4, "time"),
        (5, ""),
    ]
    assert len(log) == 1


def test_a_log_of_bad_rows_only_is_empty(write):
    log = log_of(write, "never" + FIRST[23:])
    assert (len(log), log.problem_count) == (0, 1)


def test_the_public_dump_comes_in_whole(shared_data):
    path = next(shared_data.glob("dreamlab/raw_run/*/*_tegrastats.csv"))
    truth, log = pd.read_csv(path), read(path)
    assert detect(path).name == "jtop"
    assert (len(log), log.problem_count) == (len(truth), 0)
    assert log.columns["power_total_mw"].sum() == truth["power cur"].sum()
    assert log.columns["temp_tj_c"].sum() == pytest.approx(truth["Temp tj"].sum())
    assert log.repeated.sum() == truth.drop(columns="log_time").duplicated().sum()
