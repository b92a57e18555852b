"""The public tables, through the whole door."""

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
