"""The public tables, through the whole door."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.db.models import Sum

from profiling.catalog import device_model_entries
from profiling.models import DeviceModel, Run, Upload
from profiling.receiving import received
from profiling.selectors.runs import measured_table
from profiling.services.catalog import device_model_seed
from profiling.services.imports import upload_work
from profiling.services.uploads import upload_map, upload_receive


@pytest.fixture
def agx_orin(db):
    return device_model_seed(entry=next(e for e in device_model_entries() if e["slug"] == "agx-orin"))


@pytest.mark.parametrize(("name", "bad"), [("resnet", 0), ("yolo", 1), ("lstm", 0)])
def test_every_good_line_is_in_and_sums_agree_with_pandas(
    shared_data: Path, agx_orin, resnet, eng, name, bad
):
    path = shared_data / "dreamlab" / "train" / f"{name}_train_data_final.csv"
    truth = pd.read_csv(path).drop_duplicates(["cores", "cpu", "gpu", "mem"])
    file = received([path.read_bytes()], path.name)
    upload, _ = upload_receive(
        file=file, user=eng, workload=resnet, device_model=agx_orin, on_bad_lines="good"
    )
    upload_work(upload_id=upload.pk)
    upload = Upload.objects.get()
    assert (upload.state, upload.problem_count, upload.rows_imported) == ("done", bad, len(truth))
    assert not Run.objects.filter(power_mode=None).exists()
    table = measured_table(workload=resnet, device_model=agx_orin)
    assert table.time_ms.sum() == pytest.approx(truth.observed_time.sum())
    assert table.power_mw.sum() == pytest.approx(1000 * truth.observed_power.sum())


def test_a_run_folder_brings_its_telemetry(shared_data: Path, resnet, eng, tmp_path, db):
    nano = device_model_seed(entry=next(e for e in device_model_entries() if e["slug"] == "orin-nano-8gb"))
    packed = shutil.make_archive(str(tmp_path / "runs"), "zip", shared_data / "dreamlab" / "raw_run")
    file = received([Path(packed).read_bytes()], "runs.zip")
    upload, _ = upload_receive(file=file, user=eng, workload=resnet, device_model=nano, on_bad_lines="good")
    upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", (upload.failure, upload.problems)
    run = Run.objects.get()
    assert run.knobs == (4, 1_497_600, 306_000, 665_600)
    assert run.time_ms > 0
    assert run.minibatches > 10
    assert [chunk.rows for chunk in run.telemetry.order_by("sequence")] == [27, 50]


@pytest.fixture
def imported(eng, resnet, db):
    """A file through the whole door; what is asked is answered with what was proposed."""

    def imported(path: Path, board: str, **answer: Any) -> Upload:
        about = {"user": eng, "workload": resnet, "device_model": board_of(board), "on_bad_lines": "good"}
        upload, _ = upload_receive(file=received([path.read_bytes()], path.name), **about)
        upload_work(upload_id=upload.pk)
        upload.refresh_from_db()
        if upload.state == "mapping":
            mapping = upload.proposal.get("mapping", {}) | answer
            upload_work(upload_id=upload_map(upload=upload, user=eng, mapping=mapping).pk)
            upload.refresh_from_db()
        assert upload.state == "done", (upload.failure, upload.proposal, upload.problems[:3])
        return upload

    return imported


def board_of(slug: str) -> DeviceModel:
    return device_model_seed(entry=next(e for e in device_model_entries() if e["slug"] == slug))


def total(name: str) -> float:
    return Run.objects.aggregate(total=Sum(name))["total"] or 0.0


@pytest.mark.parametrize("name", ["resnet", "yolo"])
def test_inference_tables_keep_their_batch_sizes(shared_data, imported, name):
    path = shared_data / "dreamlab" / "infer" / f"{name}_infer_data_final.csv"
    truth, upload = pd.read_csv(path), imported(path, "agx-orin")
    assert (Run.objects.count(), upload.problem_count) == (len(truth), 0)
    assert total("time_ms") == pytest.approx(truth.observed_time.sum())
    assert total("power_mw") == pytest.approx(1000 * truth.observed_power.sum())
    assert total("minibatch") == truth.bs.sum()


def test_the_doubled_yolo_mode_is_listed_with_both_lines(shared_data, imported):
    upload = imported(shared_data / "dreamlab" / "train" / "yolo_train_data_final.csv", "agx-orin")
    assert upload.problem_count == 1
    assert upload.problems[0] | {"line": 4370} == upload.problems[0]
    assert "is the same mode as line 4369, with power_mw" in upload.problems[0]["reason"]


def test_tx2_tables_come_in_with_what_they_know(shared_data, imported):
    path = shared_data / "tx2" / "fps_gpu_emc.csv"
    truth, upload = pd.read_csv(path), imported(path, "tx2")
    measured = truth.dropna(subset=["fps"])
    assert upload.rows_imported + upload.problem_count == len(truth)
    assert Run.objects.count() == len(measured)
    assert total("time_ms") == pytest.approx(measured.lat_ms.sum())
    assert Run.objects.filter(power_mw=None).count() == len(measured)
    assert set(Run.objects.values_list("extra__workload", flat=True)) == set(measured.workload)


@pytest.mark.parametrize(
    ("device", "board"), [("AGX Xavier", "agx-xavier"), ("Xavier NX", "xavier-nx"), ("Nano", "nano")]
)
def test_loudva_is_imported_a_board_at_a_time(shared_data, imported, device, board):
    path = shared_data / "loudva" / "perf_power.csv"
    truth = pd.read_csv(path)
    truth = truth[truth.device == device]
    upload = imported(path, board, only={"device": device})
    assert (Run.objects.count(), upload.problem_count) == (len(truth), 0)
    assert total("power_mw") == pytest.approx(truth.mean_power_mW.sum())
    assert total("gpu_khz") == truth[truth.kind == "freq"].value.sum() // 1000
    unknown = Run.objects.first().unknowns
    assert {"cores", "cpu_khz", "mem_khz"} <= set(unknown)
    kept = Run.objects.values_list("extra__Concurrency", flat=True)
    assert sum(map(int, kept)) == truth.Concurrency.sum(), "concurrency is kept, and is no minibatch size"


@pytest.mark.parametrize(
    ("name", "board", "rows", "oddity"),
    [("agx_orin_jp6_resnet152_maxn", "agx-orin", 853, "a date"), ("tx2_jp4_vgg19", "tx2", 621, "")],
)
def test_logs_come_in_as_telemetry(shared_data, imported, name, board, rows, oddity):
    upload = imported(shared_data / "tegrastats" / f"{name}.txt", board, interval_s=1.0)
    assert sum(Run.objects.get().telemetry.values_list("rows", flat=True)) == rows
    assert upload.problem_count == 0
    assert any(oddity in note["reason"] for note in upload.notes) or not oddity


def test_the_repeated_sensor_rows_are_listed(shared_data, imported, tmp_path):
    packed = shutil.make_archive(str(tmp_path / "runs"), "zip", shared_data / "dreamlab" / "raw_run")
    upload = imported(Path(packed), "orin-nano-8gb")
    reasons = [note["reason"] for note in upload.notes]
    assert any("repeat" in reason for reason in reasons), reasons
    assert any("warm-up" in reason for reason in reasons), reasons


def test_every_file_there_is_has_its_test(shared_data):
    """A new file must be added above."""
    known = {
        "README.md",
        "dreamlab/infer/resnet_infer_data_final.csv",
        "dreamlab/infer/yolo_infer_data_final.csv",
    }
    known |= {f"dreamlab/train/{name}_train_data_final.csv" for name in ("lstm", "resnet", "yolo")}
    known |= {"loudva/perf_power.csv", "tx2/fps_gpu_emc.csv", "tegrastats/lines.txt"}  # lines: tests/formats
    known |= {"tegrastats/agx_orin_jp6_resnet152_maxn.txt", "tegrastats/tx2_jp4_vgg19.txt"}
    files = [path.relative_to(shared_data) for path in shared_data.rglob("*") if path.is_file()]
    there = {path.as_posix() for path in files if path.parts[:2] != ("dreamlab", "raw_run")}
    assert there == known
