import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from profiling.models import Run, Upload
from profiling.receiving import incoming_folder
from profiling.services.imports import upload_work

URL = "/api/v1/uploads/"
GOOD = b"cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n2,268800,318750,665600,100,10\n"
BAD = GOOD + b"5,268800,318750,665600,100,10\n"
PAIR = {"workload": "resnet", "device_model": "orin-mini"}
RAW = f"{URL}?workload=resnet&device_model=orin-mini&filename=sweep.csv"

pytestmark = pytest.mark.usefixtures("resnet", "orin")


def form(content: bytes = GOOD, **fields: Any) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("sweep.csv", content), **PAIR, **fields}


def send(api: APIClient, content: bytes = GOOD) -> Upload:
    upload = Upload.objects.get(pk=api.post(URL, form(content), format="multipart").json()["id"])
    upload_work(upload_id=upload.pk)
    return upload


def test_a_form_is_taken(api):
    answer = api.post(URL, form(), format="multipart")
    assert answer.status_code == 201
    assert answer["Location"] == f"{URL}{answer.json()['id']}/"
    assert (
        answer.json() | {"state": "received", "filename": "sweep.csv", "workload": "resnet"} == answer.json()
    )


@pytest.mark.parametrize(
    "kind", ["text/csv", "application/json", "application/x-www-form-urlencoded", "application/octet-stream"]
)
def test_a_raw_body_is_taken_whatever_it_calls_itself(api, kind):
    answer = api.post(RAW, GOOD, content_type=kind)
    assert answer.status_code == 201, answer.content
    assert Upload.objects.get().file.read() == GOOD


def test_the_device_gives_its_device_model(api, board):
    answer = api.post(f"{URL}?workload=resnet&device=desk-1", GOOD, content_type="text/csv")
    assert answer.json()["device_model"] == "orin-mini"
    assert answer.json()["emulated"] is True


def test_sending_again_answers_with_the_first(api):
    first = api.post(URL, form(), format="multipart")
    again = api.post(RAW, GOOD, content_type="text/csv")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


def test_an_idempotency_key_is_kept_for_one_file(api):
    headers = {"Idempotency-Key": "night-run-1"}
    assert api.post(RAW, GOOD, content_type="text/csv", headers=headers).status_code == 201
    assert api.post(RAW, GOOD, content_type="text/csv", headers=headers).status_code == 200
    assert api.post(RAW, BAD, content_type="text/csv", headers=headers).status_code == 409


@pytest.mark.parametrize(("length", "status"), [(100, 201), (101, 400)])
def test_a_key_has_a_hundred_characters_at_most(api, length, status):
    headers = {"Idempotency-Key": "k" * length}
    answer = api.post(RAW, GOOD, content_type="text/csv", headers=headers)
    assert answer.status_code == status, answer.content
    assert Upload.objects.filter(idempotency_key="k" * length).count() == (status == 201)


def test_every_missing_field_is_named_at_once(api):
    answer = api.post(URL, {}, format="multipart")
    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == {"file", "workload"}
    assert answer["Content-Type"] == "application/problem+json"


def test_an_unknown_workload_is_named(api):
    answer = api.post(URL, form(workload="resnot"), format="multipart")
    assert "resnot" in answer.json()["errors"]["workload"][0]


@pytest.mark.parametrize("raw", [True, False])
def test_a_file_over_the_limit_gets_413_and_is_not_kept(api, settings, raw):
    settings.UPLOAD_MAX_BYTES = 1000
    big = GOOD * 1000
    answer = (
        api.post(RAW, big, content_type="text/csv") if raw else api.post(URL, form(big), format="multipart")
    )
    assert answer.status_code == 413
    assert "UPLOAD_MAX_MB" in answer.json()["detail"]
    assert not Upload.objects.exists()
    assert list(incoming_folder().iterdir()) == []


def test_a_body_of_unknown_length_gets_411(api):
    answer = api.generic("POST", RAW, headers={"Transfer-Encoding": "chunked"})
    assert answer.status_code == 411


def test_a_broken_form_gets_400(api):
    answer = api.post(URL, b"--nonsense", content_type="multipart/form-data; boundary=x")
    assert answer.status_code == 400


def test_the_list_leaves_long_columns_out_and_costs_two_queries(api, django_assert_num_queries):
    for number in range(3):
        send(api, GOOD + b"6,268800,318750,665600,%d,10\n" % (number + 1))
    api.get(URL)
    with django_assert_num_queries(3):  # token, role, uploads
        answer = api.get(URL)
    assert len(answer.json()["results"]) == 3
    assert "problems" not in answer.json()["results"][0]


def test_uploads_are_filtered(api):
    send(api)
    assert len(api.get(URL, {"state": "done", "uploader": "eng"}).json()["results"]) == 1
    assert api.get(URL, {"state": "mapping"}).json()["results"] == []


def test_one_upload_shows_its_bad_lines(api, django_assert_num_queries):
    upload = send(api, BAD)
    with django_assert_num_queries(3):
        shown = api.get(f"{URL}{upload.pk}/").json()
    assert shown["state"] == "choosing"
    assert shown["problems"][0] | {"line": 3, "column": "cores", "value": "5"} == shown["problems"][0]


@pytest.mark.parametrize("accept", ["*/*", "text/csv"])
def test_the_report_is_downloaded(api, accept):
    answer = api.get(f"{URL}{send(api, BAD).pk}/report/", headers={"Accept": accept})
    assert b"".join(answer.streaming_content).startswith(b"line,column,value,reason")
    assert "sweep.csv.problems.csv" in answer["Content-Disposition"]


def test_a_file_without_problems_has_no_report(api):
    answer = api.get(f"{URL}{send(api).pk}/report/")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_the_good_lines_are_chosen_and_taken_away_again(api):
    upload = send(api, BAD)
    assert api.post(f"{URL}{upload.pk}/choice/", {"choice": "good"}).json()["state"] == "importing"
    upload_work(upload_id=upload.pk)
    assert Run.objects.count() == 1
    assert api.post(f"{URL}{upload.pk}/undo/").json()["state"] == "undone"
    assert api.post(f"{URL}{upload.pk}/undo/").status_code == 409
    assert Run.objects.count() == 0


def test_the_columns_are_mapped(api):
    upload = send(api, GOOD.replace(b"time_ms", b"speed").replace(b"power_w", b"heat"))
    shown = api.get(f"{URL}{upload.pk}/").json()
    mapping = shown["proposal"]["mapping"]
    mapping["fields"] |= {
        "time_ms": {"column": "speed", "unit": "ms"},
        "power_mw": {"column": "heat", "unit": "W"},
    }
    answer = api.post(f"{URL}{upload.pk}/mapping/", mapping)
    assert (answer.status_code, answer.json()["state"]) == (200, "reading"), answer.json()


@pytest.mark.parametrize("mapping", [{}, {"fields": []}, {"fields": {"speed": {"column": "x"}}}, [1]])
def test_a_mapping_that_is_none_is_refused(api, mapping):
    upload = send(api, GOOD.replace(b"time_ms", b"speed"))
    assert api.post(f"{URL}{upload.pk}/mapping/", mapping).status_code == 400


def test_a_browser_must_send_its_csrf_token(eng):
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(eng)
    answer = browser.post(URL, {**PAIR, "file": io.BytesIO(GOOD)}, format="multipart")
    assert answer.status_code == 403
    assert "CSRF" in answer.json()["detail"]


def test_a_files_name_is_kept_without_what_cannot_be_shown(api, resnet, orin):
    url = "/api/v1/uploads/?workload=resnet&device_model=orin-mini&filename=a%0D%0Ab%00c%E2%80%AEd.csv"
    answer = api.generic("POST", url, b"x,y\n1,2\n", content_type="application/octet-stream")
    assert answer.json()["filename"] == "a__b_c_d.csv"
