"""The mapping step on the page of an upload: doubts answered by a choice, rows chosen, units said."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from profiling.models import Run, Upload
from profiling.services.imports import upload_work

KNOBS = "cores,cpu_khz,gpu_khz,mem_khz"
MODE = "2,268800,318750,665600"
MODES = [MODE, MODE.replace("2,", "4,", 1), MODE.replace("2,", "6,", 1)]


def sent(browser, resnet, text):
    file = SimpleUploadedFile("t.csv", text.encode())
    browser.post(reverse("upload-send", args=[resnet.slug]), {"device_model": "orin-mini", "file": file})
    upload = Upload.objects.get()
    upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


def page_of(browser, upload):
    return browser.get(reverse("upload-detail", args=[upload.pk])).content.decode()


def answer(browser, upload, **given):
    """What the form would send, with some of it chosen otherwise."""
    guesses = {
        f"column-{place}": f"{each['field']}:{each['unit'] or ''}" if each["field"] else ""
        for place, each in enumerate(upload.proposal["columns"])
    }
    browser.post(reverse("upload-map", args=[upload.pk]), {**guesses, "decimal": ".", **given})
    upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def seconds(browser, resnet, orin):
    """Seconds in a column that says ms."""
    rows = [f"{mode},{time}" for mode, time in zip(MODES, (0.118, 0.234, 0.071), strict=True)]
    return sent(browser, resnet, "\n".join([f"{KNOBS},time_ms", *rows]))


def test_times_that_look_like_seconds_are_asked_about_with_what_each_answer_means(browser, seconds):
    page = page_of(browser, seconds)
    assert "plausible only in s" in page
    assert "in s: 0.118 is 118 ms" in page
    assert "in ms: 0.118 is 0.118 ms" in page
    assert '<input type="radio" name="column-4" value="time_ms:s" checked>' in page


@pytest.mark.parametrize(("choice", "time_ms"), [("time_ms:s", 118), ("time_ms:ms", 0.118)])
def test_the_answer_is_taken(browser, seconds, choice, time_ms):
    assert answer(browser, seconds, **{"column-4": choice}).state in ("done", "choosing")
    if seconds.state == "choosing":
        browser.post(reverse("upload-decide", args=[seconds.pk]), {"choice": "good"})
        upload_work(upload_id=seconds.pk)
    assert Run.objects.get(cores=2).time_ms == pytest.approx(time_ms)


def test_a_doubtful_column_may_be_something_else(browser, seconds):
    done = answer(browser, seconds, **{"column-4": "other", "other-4": "energy_mj:J"})
    assert done.mapping["fields"]["energy_mj"] == {"column": "time_ms", "unit": "J"}


@pytest.fixture
def several(browser, resnet, orin):
    rows = [f"{MODES[0]},12.5,yolo", f"{MODES[0]},14.5,resnet", f"{MODES[1]},11.5,resnet"]
    return sent(browser, resnet, "\n".join([f"{KNOBS},time_ms,network", *rows]))


def test_a_table_of_several_networks_offers_them(browser, several):
    page = page_of(browser, several)
    assert '<option value="yolo">yolo</option>' in page
    assert "all lines are meant" in page


def test_only_the_rows_chosen_come_in(browser, several):
    done = answer(browser, several, **{"only-5": "resnet"})
    assert (done.state, done.mapping["only"]) == ("done", {"network": "resnet"})
    assert sorted(Run.objects.values_list("time_ms", flat=True)) == [11.5, 14.5]
    assert "those whose <code>network</code> is resnet" in page_of(browser, done)


def test_a_setting_no_column_holds_is_said_for_the_whole_file(browser, resnet, orin):
    rows = [f"{mode.partition(',')[2]},{time}" for mode, time in ((MODES[0], 12.5), (MODES[1], 13.5))]
    upload = sent(browser, resnet, "\n".join(["cpu_khz,gpu_khz,mem_khz,time_ms", rows[0]]))
    assert "cores throughout the file" in page_of(browser, upload)
    answer(browser, upload, **{"constant-cores": "4"})
    assert Run.objects.get().cores == 4


def test_a_log_without_times_is_asked_for_its_interval(browser, resnet, orin):
    proposal = {"asks": "interval_s", "questions": ["How far apart?"], "columns": [], "preview": []}
    upload = Upload.objects.create(
        filename="t.log", size=1, workload=resnet, device_model=orin, state="mapping", proposal=proposal
    )
    page = page_of(browser, upload)
    assert "Seconds between two lines" in page
    assert "How far apart?" in page
