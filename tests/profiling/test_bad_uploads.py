"""Bad files through the whole door: each ends with a clear answer, and without a run."""

import gzip
import io
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from django.test import RequestFactory

from jetsonlab.wsgi import application
from profiling.models import Run, Upload
from profiling.receiving import ReceivedFile, incoming_folder, received
from profiling.services.imports import upload_work
from profiling.services.uploads import upload_receive

HEADER = b"cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n"
ROW = b"2,268800,318750,665600,%s,%s\n"
RAW = "/api/v1/uploads/?workload=resnet&device_model=orin-mini&filename=s.csv"
TRANSFERS = "/api/v1/transfers/"
GOOD = ROW % (b"100", b"10")


def line(time: bytes = b"100", power: bytes = b"10") -> bytes:
    return HEADER + ROW % (time, power)


@pytest.fixture
def sent(eng, resnet, orin):
    def sent(content: bytes | ReceivedFile, **more) -> Upload:
        file = content if isinstance(content, ReceivedFile) else received([content], "bad.csv")
        upload, _ = upload_receive(file=file, user=eng, workload=resnet, device_model=orin, **more)
        upload_work(upload_id=upload.pk)
        upload.refresh_from_db()
        return upload

    return sent


def parquet_claiming_a_thousand_million_rows(folder: Path) -> bytes:
    path = folder / "a.parquet"
    pyarrow.parquet.write_table(pa.table({"cores": pa.array([2] * 300)}), path)
    content = path.read_bytes()
    claimed = content.replace(b"\x16\xd8\x04", b"\x16\x80\xa8\xd6\xb9\x07")  # zigzag varint 300 → 1e9
    length = int.from_bytes(content[-8:-4], "little") + len(claimed) - len(content)
    return claimed[:-8] + length.to_bytes(4, "little") + b"PAR1"


UNREADABLE = {
    "blank lines": (b"\n\n \n", "empty"),
    "a zip bomb": (gzip.compress(HEADER + GOOD * 2_000_000), "times its size"),
    "UTF-32": (HEADER.decode().encode("utf-32"), "save it as UTF-8"),
    "a doubled header": (
        HEADER.replace(b"time_ms", b"cores") + GOOD,
        "more than one column is called 'cores'",
    ),
    "10,000 columns": (b",".join(b"c%d" % n for n in range(10_000)) + b"\n", "10,000 columns"),
    "NUL bytes in the header": (HEADER.replace(b"cores", b"cores\0") + GOOD, "NUL bytes"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_file_that_cannot_be_read_says_why(sent, what):
    content, words = UNREADABLE[what]
    upload = sent(content)
    assert (upload.state, Run.everything.count()) == ("failed", 0)
    assert words in upload.failure


def test_a_parquet_that_claims_a_thousand_million_rows(sent, tmp_path):
    upload = sent(parquet_claiming_a_thousand_million_rows(tmp_path))
    assert upload.state == "failed"
    assert "rows" in upload.failure


@pytest.fixture
def sparse(tmp_path):
    """Two gigabytes that take no room, as the body of a request whose server reads what is asked of it."""
    path = tmp_path / "sparse.csv"
    path.touch()
    os.truncate(path, 2 << 30)
    assert path.stat().st_blocks == 0
    with path.open("rb", buffering=0) as file:
        yield file


@pytest.mark.parametrize("kind", ["text/csv", "multipart/form-data; boundary=x"])
def test_two_sparse_gigabytes_are_refused_by_their_length(api, resnet, orin, sparse, kind):
    head = {"CONTENT_LENGTH": str(2 << 30), "CONTENT_TYPE": kind, "wsgi.input": sparse}
    answer = api.generic("POST", RAW, **head)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert "2,048 MiB" in answer.json()["detail"]
    assert sparse.tell() == 0, "none of it was read"
    assert not Upload.objects.exists()


def test_a_file_over_the_limit_by_little_is_counted_and_not_kept(api, resnet, orin, sparse, settings):
    settings.UPLOAD_MAX_BYTES = 1 << 20
    answer = api.generic("POST", RAW, **{"CONTENT_LENGTH": str(2 << 20), "wsgi.input": sparse})
    assert answer.status_code == 413
    assert sparse.tell() <= 3 << 20
    assert list(incoming_folder().iterdir()) == []


def test_two_sparse_gigabytes_are_refused_before_a_transfer_begins(api, resnet, orin):
    asked = {"filename": "s.csv", "size": 2 << 30, "workload": "resnet", "device_model": "orin-mini"}
    answer = api.post(TRANSFERS, asked, format="json")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert list(incoming_folder().iterdir()) == []


def test_a_transfer_takes_no_more_than_was_announced(api, resnet, orin, sparse):
    asked = {"filename": "s.csv", "size": 1 << 20, "workload": "resnet", "device_model": "orin-mini"}
    address = api.post(TRANSFERS, asked, format="json")["Location"]
    head = {"CONTENT_LENGTH": str(2 << 30), "wsgi.input": sparse, "HTTP_UPLOAD_OFFSET": "0"}
    answer = api.generic("PATCH", address, content_type="application/octet-stream", **head)
    assert answer.status_code == 400
    assert "1,048,576" in answer.json()["detail"]
    assert sparse.tell() <= 2 << 20
    assert sum(part.stat().st_size for part in incoming_folder().iterdir()) <= 1 << 20


@pytest.mark.parametrize("form", [False, True], ids=["the body itself", "a form"])
def test_a_file_whose_connection_died_between_two_lines_is_no_upload(api, resnet, orin, form):
    content = HEADER + GOOD
    kind = "multipart/form-data; boundary=x" if form else "text/csv"
    if form:
        content = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' + content
    head = {"CONTENT_LENGTH": str(len(content) + 100), "wsgi.input": io.BytesIO(content), **api._credentials}
    request = RequestFactory().generic("POST", RAW, b"", kind, **head)
    answers = []
    body = b"".join(application(request.environ, lambda status, headers: answers.append(status)))
    assert (answers, Upload.objects.count()) == (["400 Bad Request"], 0), body
    assert b"100 bytes too early" in body


MODE = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600, "time_ms": 5, "power_w": 5}
LINES = {
    "wrong encoding": (HEADER[:-1] + b",note\n" + GOOD[:-1] + b",gr\xfc\xdf\n", "is not UTF-8 text"),
    "NUL bytes": (HEADER[:-1] + b",note\n" + GOOD[:-1] + b",a\0b\n", "holds NUL bytes"),
    "a date": (line(time=b"24.12.2024"), "is a date, not a number"),
    "a decimal comma": (line(time=b'"100,5"') + ROW % (b"7.5", b"10"), "has a decimal comma; write 100.5"),
    "a negative time": (line(time=b"-5"), "is negative"),
    "an infinite power": (line(power=b"inf"), "is infinite"),
    "too few fields": (HEADER + b"2,268800,318750\n", "has 3 fields instead of 6"),
    "nested JSON": (json.dumps([MODE | {"time_ms": [1, 2]}, MODE]).encode(), "is nested, not a number"),
}


@pytest.mark.parametrize("what", LINES)
def test_a_bad_line_is_named_and_nothing_comes_in_unasked(sent, what):
    content, words = LINES[what]
    upload = sent(content)
    told = [upload.failure, *(problem["reason"] for problem in upload.problems)]
    told += (upload.proposal or {}).get("questions", [])
    assert upload.state in ("failed", "choosing", "mapping")
    assert Run.everything.count() == 0
    assert any(words in each for each in told), told


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_odd_line_ends_and_a_byte_order_mark_harm_nothing(sent, end):
    second = ROW.replace(b"2,", b"4,", 1) % (b"90", b"11")
    upload = sent(b"\xef\xbb\xbf" + HEADER.replace(b"\n", end) + GOOD + second.replace(b"\n", end))
    assert (upload.state, upload.rows_imported) == ("done", 2), upload.problems


def test_seconds_labelled_ms_are_asked_about(sent):
    upload = sent(line(time=b"0.05") + ROW.replace(b"2,", b"4,", 1) % (b"0.04", b"10"))
    assert upload.state == "mapping"
    assert "its name says ms, but its values are plausible only in s" in upload.proposal["questions"][0]


def test_seconds_that_could_be_ms_are_told_by_what_the_pair_measured_before(sent, resnet, orin):
    about = {"workload": resnet, "device_model": orin, "minibatch": 16}
    Run.objects.bulk_create(Run(**about, time_ms=time, power_mw=9000) for time in (2_000, 9_000))
    upload = sent(line(time=b"2.5") + ROW.replace(b"2,", b"4,", 1) % (b"6.5", b"10"))
    assert upload.state == "mapping"
    assert "plausible only in s" in upload.proposal["questions"][0]
