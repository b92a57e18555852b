"""Pages that change something: who may, what happens, and what is said when it does not."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from frontend.mapping_form import mapping_of
from profiling.errors import InvalidInput
from profiling.models import ApiToken, DeviceModel, Run, Upload, Workload
from profiling.services.imports import upload_work

GOOD = b"cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n2,268800,318750,665600,118.2,19.2\n"
BAD = b"4,268800,318750,665600,-1,19.2\n"
ODD = b"c;cpuclk;g;emc;lat;watt\n4;1190,4;318,75;3199;12,5;9,8\n"
FIELDS = {"name": "YOLO", "kind": "training", "network": "YOLOv8n", "minibatch": 16}


def send(client: Client, workload: Workload, *contents: bytes) -> list[Upload]:
    files = [SimpleUploadedFile(f"f{number}.csv", text) for number, text in enumerate(contents)]
    client.post(reverse("upload-send", args=[workload.slug]), {"device_model": "orin-mini", "file": files})
    uploads = list(Upload.objects.order_by("pk"))
    for upload in uploads:
        upload_work(upload_id=upload.pk)
        upload.refresh_from_db()
    return uploads


def read(client: Client, name: str, *args: object) -> str:
    return client.get(reverse(name, args=args)).content.decode()


def test_a_workload_is_created_and_shown(browser):
    answer = browser.post(reverse("workload-create"), FIELDS)
    assert answer.url == "/workloads/yolo/"
    assert "Training of YOLOv8n" in read(browser, "workload-detail", "yolo")


def test_a_name_already_taken_is_said_at_its_field(browser, resnet):
    answer = browser.post(reverse("workload-create"), {**FIELDS, "name": resnet.name})
    assert answer.status_code == 422
    assert "already exists" in str(answer.context["form"].errors["name"])


def test_a_measured_workload_keeps_what_defines_it(browser, resnet, orin):
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16)
    answer = browser.post(reverse("workload-edit", args=["resnet"]), {**FIELDS, "minibatch": 32})
    assert answer.status_code == 409
    resnet.refresh_from_db()
    assert resnet.minibatch == 16


@pytest.mark.parametrize("name", ["workload-create", "predictor-ask"])
def test_a_viewer_changes_nothing(name, client, vera):
    client.force_login(vera)
    answer = client.post(reverse(name), FIELDS)
    assert answer.status_code == 403
    assert "needs the role engineer" in answer.content.decode()
    assert not Workload.objects.exists()


def test_a_viewer_sees_no_button_that_would_be_refused(client, vera, resnet):
    client.force_login(vera)
    page = read(client, "workload-detail", resnet.slug)
    assert "Upload measurements" not in page
    assert "Edit" not in page


def test_several_files_go_at_once(browser, resnet, orin):
    uploads = send(browser, resnet, GOOD, GOOD.replace(b"118.2", b"120.1"))
    assert [upload.state for upload in uploads] == ["done", "done"]
    assert Run.objects.count() == 2


def test_a_mode_that_comes_again_is_a_repeat_where_its_user_says_so(browser, resnet, orin):
    again = GOOD + b"2,268800,318750,665600,119.5,19.3\n"
    data = {"device_model": "orin-mini", "file": SimpleUploadedFile("a.csv", again), "repeats": "keep"}
    browser.post(reverse("upload-send", args=["resnet"]), data)
    upload_work(upload_id=Upload.objects.get().pk)
    assert sorted(Run.objects.values_list("time_ms", flat=True)) == [118.2, 119.5]


def test_an_empty_file_among_several_is_named_and_none_is_sent(browser, resnet, orin):
    files = [SimpleUploadedFile("a.csv", GOOD), SimpleUploadedFile("b.csv", b"")]
    data = {"device_model": "orin-mini", "file": files}
    answer = browser.post(reverse("upload-send", args=["resnet"]), data)
    assert (answer.status_code, Upload.objects.count()) == (400, 0)
    assert "b.csv is empty" in answer.content.decode()


def test_htmx_gets_a_row_for_each_file_that_asks_again_while_under_way(browser, resnet, orin):
    data = {"device_model": "orin-mini", "file": SimpleUploadedFile("a.csv", GOOD)}
    answer = browser.post(
        reverse("upload-send", args=["resnet"]), data, headers={"HX-Request": "true"}
    ).content.decode()
    assert answer.count("<tr") == 1
    assert 'hx-trigger="every 1s"' in answer


def test_bad_lines_wait_for_a_decision(browser, resnet, orin):
    (upload,) = send(browser, resnet, GOOD + BAD)
    page = read(browser, "upload-detail", upload.pk)
    assert "1 of 2 lines need a decision" in page
    assert "is negative" in page
    browser.post(reverse("upload-decide", args=[upload.pk]), {"choice": "good"})
    upload_work(upload_id=upload.pk)
    assert Run.objects.filter(state="complete").count() == 1
    assert "1 line imported" in read(browser, "upload-detail", upload.pk)


def test_the_report_of_bad_lines_is_a_download(browser, resnet, orin):
    (upload,) = send(browser, resnet, GOOD + BAD)
    answer = browser.get(reverse("upload-report", args=[upload.pk]))
    assert answer["Content-Disposition"] == 'attachment; filename="f0.csv-problems.csv"'
    assert b"is negative" in b"".join(answer.streaming_content)


def test_an_import_is_undone(browser, resnet, orin):
    (upload,) = send(browser, resnet, GOOD)
    browser.post(reverse("upload-undo", args=[upload.pk]))
    assert not Run.objects.exists()
    assert "The import was undone" in read(browser, "upload-detail", upload.pk)


def test_unclear_columns_are_asked_for_with_a_preview(browser, resnet, orin):
    (upload,) = send(browser, resnet, ODD)
    assert upload.state == "mapping"
    page = read(browser, "upload-detail", upload.pk)
    assert "Say what the columns are" in page
    assert "1190,4" in page
    columns = ["cores:", "cpu_khz:MHz", "gpu_khz:MHz", "mem_khz:MHz", "time_ms:ms", "power_mw:W"]
    answer = {f"column-{place}": choice for place, choice in enumerate(columns)}
    browser.post(reverse("upload-map", args=[upload.pk]), {**answer, "decimal": ","})
    upload_work(upload_id=upload.pk)
    run = Run.objects.get()
    assert (run.cores, run.cpu_khz, run.time_ms, run.power_mw) == (4, 1_190_400, 12.5, 9800)


def test_two_columns_cannot_be_the_same_quantity():
    columns = [{"column": "a"}, {"column": "b"}]
    with pytest.raises(InvalidInput, match="Both 'a' and 'b'"):
        mapping_of(columns, {"column-0": "time_ms:ms", "column-1": "time_ms:s"})


def test_a_token_is_shown_once(browser, eng):
    made = browser.post(reverse("token-list"), {"name": "notebook", "scopes": ["read"], "days": 90})
    text = made.context["made"][1]
    assert text in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    again = read(browser, "token-list")
    assert "notebook" in again
    assert text not in again


def test_a_revoked_token_is_dead(browser, eng):
    browser.post(reverse("token-list"), {"name": "notebook", "scopes": ["read"], "days": 90})
    token = ApiToken.objects.get()
    browser.post(reverse("token-revoke", args=[token.pk]))
    token.refresh_from_db()
    assert not token.usable


def test_nobody_revokes_what_they_cannot_see(client, vera, eng, browser):
    browser.post(reverse("token-list"), {"name": "notebook", "scopes": ["read"], "days": 90})
    client.force_login(vera)
    answer = client.post(reverse("token-revoke", args=[ApiToken.objects.get().pk]))
    assert answer.status_code == 404


def test_a_viewer_makes_no_token_beyond_the_role(client, vera):
    client.force_login(vera)
    answer = client.post(reverse("token-list"), {"name": "x", "scopes": ["upload"], "days": 9})
    assert answer.status_code == 403


@pytest.mark.parametrize("name", ["upload-undo", "upload-decide", "upload-map", "predictor-retry"])
def test_steps_are_never_taken_by_looking(name, browser):
    assert browser.get(reverse(name, args=[1])).status_code == 405


def test_predicting_without_measurements_says_what_to_do(browser, resnet, orin):
    asked = {"workload": "resnet", "device_model": "orin-mini", "method": "gp"}
    answer = browser.post(reverse("predictor-ask"), asked)
    assert answer.status_code == 409
    assert "Upload measurements or run a sweep" in answer.content.decode()


def test_a_seed_too_large_to_store_is_refused(browser, resnet, orin):
    asked = {"workload": "resnet", "device_model": "orin-mini", "method": "gp", "seed": 10**30}
    answer = browser.post(reverse("predictor-ask"), asked)
    assert answer.status_code in (400, 422)
    assert "less than or equal" in answer.content.decode()


def test_an_upload_without_a_board_is_refused_in_words(browser, resnet, orin: DeviceModel):
    answer = browser.post(
        reverse("upload-send", args=["resnet"]), {"file": SimpleUploadedFile("a.csv", GOOD)}
    )
    assert answer.status_code == 400
    assert "device_model" in answer.content.decode()
