"""The public datasets, where they are at hand: nothing lost, every oddity listed."""

import pandas as pd
import pytest

from profiling.formats import detect, propose, read
from profiling.knobs import KnobRange

ORIN = KnobRange(
    cores=tuple(range(1, 13)),
    cpu_khz=(*range(115200, 2188801, 76800), 2201600),
    gpu_khz=(*range(114750, 1236751, 102000), 1300500),
    mem_khz=(204000, 665600, 2133000, 3199000),
)
TABLES = [
    "train/resnet_train_data_final",
    "train/lstm_train_data_final",
    "infer/resnet_infer_data_final",
    "infer/yolo_infer_data_final",
]


@pytest.mark.parametrize("name", TABLES)
def test_powertrain_tables_come_in_whole(shared_data, name):
    path = shared_data / "dreamlab" / f"{name}.csv"
    truth, parsed = pd.read_csv(path), read(path, legal=ORIN)
    assert detect(path).name == "csv"
    assert (len(parsed), parsed.problem_count, parsed.row_count) == (len(truth), 0, len(truth))
    assert parsed.rows.time_ms.sum() == pytest.approx(truth.observed_time.sum(), rel=1e-12)
    assert parsed.rows.power_mw.sum() == pytest.approx(1000 * truth.observed_power.sum(), rel=1e-12)
    assert parsed.rows.gpu_khz.sum() == truth.gpu.sum() // 1000
    assert parsed.rows.cpu_khz.sum() == truth.cpu.sum()
    assert ("minibatch" in parsed.rows) == ("bs" in truth)


def test_the_doubled_yolo_mode_is_caught(shared_data):
    parsed = read(shared_data / "dreamlab/train/yolo_train_data_final.csv", legal=ORIN)
    assert (parsed.row_count, len(parsed), parsed.problem_count) == (4369, 4368, 1)
    assert parsed.problems[0].line == 4370
    assert "line 4369" in parsed.problems[0].reason


def test_tx2_frames_per_second_come_in_without_power(shared_data):
    path = shared_data / "tx2/fps_gpu_emc.csv"
    truth, proposal = pd.read_csv(path), propose(path)
    parsed = read(path, mapping=proposal.mapping)
    measured = truth.dropna(subset=["fps"])
    assert parsed.row_count == len(truth)
    assert len(parsed) == len(measured)
    assert parsed.extras.fps.astype(float).sum() == pytest.approx(measured.fps.sum())
    assert parsed.rows.time_ms.sum() == pytest.approx(measured.lat_ms.sum())
    assert parsed.rows.mem_khz.isna().sum() == measured.emc_hz.isna().sum()
    assert parsed.mapping.apart == ("group", "workload")
    assert {"cores", "cpu_khz", "power_mw"} <= set(parsed.unknown)
