"""What every page does: errors in words, the reader's time zone, a strict policy, strangers."""

import re
from datetime import UTC, datetime

import pytest
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DataError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.views import defaults

from frontend.middleware import LabErrorMiddleware
from profiling.errors import BoardError, Conflict, Forbidden, InvalidInput, TooLarge
from profiling.models import Device


def heading(page: bytes) -> str:
    (found,) = re.findall(r"<h1>(.*?)</h1>", page.decode())
    return found


def test_a_missing_page_has_a_design_and_a_way_on(browser):
    answer = browser.get("/nowhere/")
    assert answer.status_code == 404
    assert heading(answer.content) == "There is nothing here"
    assert 'class="topbar"' in answer.content.decode()


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (InvalidInput("The minibatch is 0."), 400, "That did not work"),
        (Forbidden("Ask Ada."), 403, "You may not do this"),
        (Conflict("It runs already."), 409, "Not as things stand"),
        (TooLarge("600 MiB are too many."), 413, "Too large"),
        (BoardError("It is off."), 502, "That did not work"),
    ],
)
def test_each_kind_of_error_says_what_happened(error, status, words, eng, rf):
    request = rf.get("/")
    request.user, request.htmx = eng, False
    answer = LabErrorMiddleware(lambda _: None).process_exception(request, error)
    assert answer.status_code == status
    assert heading(answer.content) == words
    assert error.message in answer.content.decode()


def test_what_the_database_cannot_store_is_no_500(eng, rf):
    """PostgreSQL's word for NUL in a text."""
    request = rf.get("/")
    request.user, request.htmx = eng, False
    answer = LabErrorMiddleware(lambda _: None).process_exception(request, DataError("NUL"))
    assert answer.status_code == 400
    assert "NUL character" in answer.content.decode()


def test_a_file_that_is_too_large_is_refused_with_a_page(browser, resnet, orin, settings):
    settings.UPLOAD_MAX_BYTES = 10
    sent = {"device_model": orin.slug, "file": SimpleUploadedFile("a.csv", b"x" * 100)}
    answer = browser.post(reverse("upload-send", args=[resnet.slug]), sent)
    assert answer.status_code == 413
    assert heading(answer.content) == "Too large"


@pytest.mark.parametrize("name", ["bad_request", "server_error"])
def test_the_pages_of_last_resort_need_nothing(name, rf: RequestFactory):
    fault = (SuspiciousOperation(),) if name == "bad_request" else ()
    answer = getattr(defaults, name)(rf.get("/"), *fault)
    assert answer.status_code == {"bad_request": 400, "server_error": 500}[name]
    assert 'class="card error-page"' in answer.content.decode()


def test_too_many_fields_are_refused_with_a_page(browser, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    answer = browser.post("/new-workload/", {f"f{number}": "x" for number in range(9)})
    assert answer.status_code == 400
    assert heading(answer.content) == "This request cannot be read"


def test_a_form_without_its_token_is_refused_with_a_page(eng):
    client = Client(enforce_csrf_checks=True)
    client.force_login(eng)
    answer = client.post("/new-workload/", {})
    assert answer.status_code == 403
    assert heading(answer.content) == "This form has expired"


def test_times_are_shown_in_the_readers_zone(browser, board):
    moment = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
    Device.objects.filter(pk=board.pk).update(last_seen=moment)
    assert "2026-07-01 12:00:00 UTC" in browser.get("/devices/").content.decode()
    browser.cookies["timezone"] = "Asia%2FKolkata"
    page = browser.get("/devices/").content.decode()
    assert "2026-07-01 17:30:00 IST" in page
    assert "Times in Asia/Kolkata" in page


@pytest.mark.parametrize("told", ["Mars/Olympus", "../../etc/passwd", "%00", ""])
def test_a_zone_that_is_none_changes_nothing(told, browser):
    browser.cookies["timezone"] = told
    assert "Times in UTC" in browser.get("/").content.decode()


def test_the_api_reference_needs_no_inline_script(browser):
    answer = browser.get("/api/docs/")
    page = answer.content.decode()
    assert re.findall(r"<script>|<style>| style=", page) == []
    assert browser.get(re.findall(r'<script src="(/api/docs/[^"]+)"', page)[0]).status_code == 200


def test_only_the_planner_may_compile(browser, board):
    for path in ("/", "/runs/", "/devices/desk-1/", "/leaderboard/", "/sweeps/"):
        assert "unsafe" not in browser.get(path).headers["Content-Security-Policy"]
    policy = browser.get("/plan/").headers["Content-Security-Policy"]
    assert re.findall(r"'unsafe-\w+'", policy) == ["'unsafe-eval'"]


def test_cookies_are_out_of_reach_of_scripts(eng):
    client = Client()
    client.get("/login/")
    client.post("/login/", {"username": "eng", "password": "eng-long-password"})
    assert {name: kept["httponly"] for name, kept in client.cookies.items()} == {
        "csrftoken": True,
        "sessionid": True,
    }


@pytest.fixture
def open_lab(settings) -> None:
    settings.ANONYMOUS_READING = True


def test_strangers_read_where_it_is_switched_on(open_lab, client, board):
    page = client.get("/devices/desk-1/").content.decode()
    assert 'href="/login/?next=/devices/desk-1/"' in page
    assert client.get("/api/v1/devices/").status_code == 200


def test_strangers_change_nothing_there(open_lab, client, board, resnet):
    assert client.get("/new-workload/").url.startswith("/login/")
    assert client.post("/new-workload/").url.startswith("/login/")
    assert client.get("/people/").url.startswith("/login/")
    assert client.get("/tokens/").url.startswith("/login/")
    for path in ("runs/", "workloads/", "plans/"):
        assert client.post(f"/api/v1/{path}", {}, "application/json").status_code == 401
    assert client.get("/api/v1/tokens/").status_code == 401
    assert client.get("/api/v1/audit/").status_code == 401


def test_strangers_see_no_buttons_they_may_not_press(open_lab, client, board):
    page = client.get("/devices/desk-1/").content.decode()
    assert "New sweep" not in page
    assert "Make its enrol command" not in page


def test_otherwise_they_read_nothing(client: HttpRequest, board):
    assert client.get("/devices/").url.startswith("/login/")
    assert client.get("/api/v1/devices/").status_code == 401
