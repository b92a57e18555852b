"""The public tables, through the whole door."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from profiling.catalog import device_model_entries
from profiling.models import Run, Upload
from profiling.receiving import received
from profiling.selectors.runs import measured_table
from profiling.services.catalog import device_model_seed
from profiling.services.imports import upload_work
from profiling.services.uploads import upload_receive


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
