import csv
import hashlib
import io
import json
import re
import shlex
import zipfile
from datetime import UTC, datetime

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.formats import read
from profiling.models import Run, Upload
from profiling.receiving import received
from profiling.selectors import exports
from profiling.selectors.copying import as_curl, as_python
from profiling.selectors.runs import run_list
from profiling.services.imports import upload_work
from profiling.services.uploads import upload_receive
from profiling.writers import FORMULA, QUOTED, no_formula

URL = "/api/v1/runs/export/"
LOW = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}


@pytest.fixture
def runs(resnet, orin, eng):
    upload = Upload.objects.create(filename="=1+1.csv", size=1, sha256="a" * 64, uploader=eng)
    about = {"workload": resnet, "device_model": orin, "minibatch": 16, **LOW}
    return [
        Run.objects.create(**about, time_ms=100 + n, power_mw=None, upload=upload, line=n, flags=flags)
        for n, flags in enumerate(([], ["hot", "short"], [], [], []))
    ]


def body(answer):
    assert answer.status_code == 200, getattr(answer, "content", "")
    return b"".join(answer.streaming_content)


def rows(text):
    return list(csv.DictReader(io.StringIO(text.decode())))


def test_the_csv_holds_exactly_what_is_filtered(api, runs):
    found = rows(body(api.get(URL, {"format": "csv", "time_ms__lte": 102, "flagged": "false"})))
    assert [int(row["id"]) for row in found] == [runs[2].pk, runs[0].pk]
    assert (found[0]["time_ms"], found[0]["power_mw"], found[0]["workload"]) == ("102.0", "", "resnet")


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_every_format_holds_the_same_runs(api, runs, format, monkeypatch):
    monkeypatch.setattr(exports, "PAGE", 2)
    data = io.BytesIO(body(api.get(URL, {"format": format})))
    frame = {
        "csv": pd.read_csv,
        "json": lambda stream: pd.DataFrame(json.load(stream)["runs"]),
        "parquet": lambda stream: pq.read_table(stream).to_pandas(),
    }[format](data)
    assert frame.id.tolist() == [run.pk for run in reversed(runs)]
    assert frame.time_ms.tolist() == [104, 103, 102, 101, 100]
    assert frame.power_mw.isna().all()
    assert frame["flags"].fillna("").tolist() == ["", "", "", "hot short", ""]


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_nothing_found_is_an_empty_file_of_its_format(api, runs, format):
    data = body(api.get(URL, {"format": format, "cores": 6}))
    if format == "parquet":
        assert pq.read_table(io.BytesIO(data)).num_rows == 0
    elif format == "json":
        assert json.loads(data) == {"runs": []}
    else:
        assert rows(data) == []


def test_text_that_a_spreadsheet_would_compute_is_made_plain(api, runs):
    assert rows(body(api.get(URL, {"format": "csv"})))[0]["file"] == "'=1+1.csv"


def test_the_package_names_filters_counts_and_hash(api, runs):
    data = body(api.get(URL, {"format": "csv", "time_ms__lte": 101, "package": "true"}))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        inside, said = archive.read("runs.csv"), json.loads(archive.read("runs.provenance.json"))
    assert (said["rows"], said["filters"], said["exported_by"]) == (2, {"time_ms__lte": "101"}, "eng")
    assert said["sha256"] == hashlib.sha256(inside).hexdigest()
    assert said["bytes"] == len(inside)
    assert said["columns"]["power_mw"].endswith("mW")


def test_the_package_names_every_value_of_a_filter(api, runs):
    asked = {"format": "csv", "package": "true", "emulated": ["true", "false"], "id__gte": 1}
    with zipfile.ZipFile(io.BytesIO(body(api.get(URL, asked)))) as archive:
        said = json.loads(archive.read("runs.provenance.json"))
    assert said["filters"] == {"emulated": ["true", "false"], "id__gte": "1"}


def test_what_was_taken_away_can_be_brought_back(api, runs, tmp_path):
    path = tmp_path / "runs.json"
    path.write_bytes(body(api.get(URL, {"format": "json"})))
    assert read(path, repeats="keep").rows.time_ms.tolist() == [104, 103, 102, 101, 100]


TEXTS = {"note": '=HYPERLINK("http://x")', "quoted": "'=1+1", "two": 'é,"q"\nnew', "-x": "@a"}


def test_a_file_says_why_a_run_failed_and_who_corrected_one(api, runs, eng):
    Run.objects.filter(pk=runs[0].pk).update(state="failed", failure="out of memory")
    Run.objects.filter(pk=runs[1].pk).update(corrected_by=eng, correction="meter was off")
    found = {int(row["id"]): row for row in rows(body(api.get(URL, {"format": "csv"})))}
    assert found[runs[0].pk]["failure"] == "out of memory"
    assert (found[runs[1].pk]["corrected_by"], found[runs[1].pk]["correction"]) == ("eng", "meter was off")


@pytest.fixture
def kept(resnet, orin, eng):
    upload = Upload.objects.create(filename="'=1+1.csv", size=1, sha256="a" * 64, uploader=eng)
    about = {"workload": resnet, "device_model": orin, "minibatch": 16, **LOW, "upload": upload}
    about |= {"measured_at": datetime(2026, 3, 9, 10, tzinfo=UTC), "extra": TEXTS, "emulated": True}
    measured = {"time_ms": 100.1 + 0.2, "energy_mj": 1000 / 3, "time_sd_ms": 0.25, "minibatches": 40}
    return Run.objects.create(
        **about, **measured, flags=["hot", "short"], correction="-1", unknowns={"power_mw": "no rail"}
    )


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_what_was_taken_away_comes_back_with_the_same_values(api, kept, eng, resnet, orin, format):
    file = received([body(api.get(URL, {"format": format}))], f"runs.{format}")
    upload, _ = upload_receive(file=file, user=eng, workload=resnet, device_model=orin)
    upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", (upload.failure, upload.proposal)
    again = Run.objects.get(upload=upload)
    same = (*LOW, "minibatch", "time_ms", "power_mw", "energy_mj", "time_sd_ms", "minibatches")
    for name in (*same, "flags", "measured_at", "emulated"):
        assert getattr(again, name) == getattr(kept, name), name
    assert TEXTS.items() <= again.extra.items()
    assert (again.extra["file"], again.extra["correction"]) == ("'=1+1.csv", "-1")


@given(st.text(alphabet="'=+-@\t\n＝a1"))
def test_a_quote_against_formulas_is_taken_off_again(text):
    made = no_formula(text)
    assert not made.startswith(FORMULA)
    assert re.sub(QUOTED, r"\1", made) == text


@pytest.mark.parametrize("query", [{"format": "xls"}, {"speling": 1}, {"workload": "resnot"}])
def test_what_cannot_be_exported_is_refused(api, runs, query):
    assert api.get(URL, query).status_code in (400, 404)


def test_a_page_of_an_export_is_one_query(runs, django_assert_num_queries):
    with django_assert_num_queries(2):  # the page, and the empty one after it
        list(exports.export_pages(run_list()))


def test_a_view_is_copied_as_curl_and_as_python():
    line = as_curl("https://lab.example/", {"workload": ["a b", "c"]}, "parquet")
    assert shlex.split(line)[-1] == (
        "https://lab.example/api/v1/runs/export/?workload=a+b&workload=c&format=parquet"
    )
    code = as_python("https://lab.example", {"workload": "it's", "cores__gte": "4"})
    compile(code, "copied", "exec")
    assert """lab.runs(workload="it's", cores__gte='4')""" in code
