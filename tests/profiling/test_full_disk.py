"""A disk without room, a database without a turn: said in words, nothing half-written, reading goes on."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from profiling.errors import Conflict
from profiling.models import ApiToken, DatasetVersion, Run, Upload
from profiling.receiving import received
from profiling.services import datasets
from profiling.services.datasets import dataset_create, dataset_freeze
from profiling.services.imports import upload_work
from profiling.services.uploads import upload_receive

MIB = 1 << 20
ROW = b"cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_mw\n2,268800,318750,665600,100,9000\n"
RAW = "/api/v1/uploads/?filename=a.csv&workload=resnet&device_model=orin-mini"


@contextmanager
def no_room(most: int = MIB) -> Iterator[None]:
    """No file grows beyond: to a program that looks like a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(settings) -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


@contextmanager
def refusing(start: str, words: str) -> Iterator[None]:
    """A database that answers so to every statement that begins so."""

    def wrapper(execute, sql, *rest):
        if sql.startswith(start):
            raise OperationalError(words)
        return execute(sql, *rest)

    with connection.execute_wrapper(wrapper):
        yield


def test_a_file_for_which_there_is_no_room_is_refused_whole(api, resnet, orin, settings):
    with no_room():
        answer = api.generic("POST", RAW, b"x" * 3 * MIB, content_type="application/octet-stream")
    assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
    assert not Upload.objects.exists()
    assert files(settings) == []


def test_a_page_says_so_too(browser, resnet, orin, settings):
    sent = {"device_model": orin.slug, "file": SimpleUploadedFile("a.csv", b"x" * 3 * MIB)}
    with no_room():
        answer = browser.post(reverse("upload-send", args=[resnet.slug]), sent)
    assert answer.status_code == 507
    assert "disk is full" in answer.content.decode()
    assert files(settings) == []


def test_a_transfer_goes_on_where_the_room_ended(api, resnet, orin):
    asked = {"filename": "a.csv", "size": 3 * MIB, "workload": "resnet", "device_model": "orin-mini"}
    begun = api.post("/api/v1/transfers/", asked)

    def send(piece: bytes, offset: int):
        about = {"content_type": "application/octet-stream", "headers": {"Upload-Offset": str(offset)}}
        return api.generic("PATCH", begun["Location"], piece, **about)

    with no_room():
        assert send(b"x" * 2 * MIB, 0).status_code == 507
    there = int(api.head(begun["Location"])["Upload-Offset"])
    assert 0 < there <= MIB
    assert send(b"x" * (MIB - 1), there).json()["offset"] == there + MIB - 1


def test_a_file_is_not_kept_without_its_row(api, resnet, orin, settings):
    with refusing('INSERT INTO "profiling_upload"', "database or disk is full"):
        answer = api.generic("POST", RAW, ROW, content_type="application/octet-stream")
    assert answer.status_code == 507
    assert files(settings) == []


def test_an_import_without_room_says_so_and_keeps_no_run(eng, resnet, orin):
    upload, _ = upload_receive(file=received([ROW], "a.csv"), user=eng, workload=resnet, device_model=orin)
    with refusing('INSERT INTO "profiling_run"', "database or disk is full"):
        upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    assert (upload.state, "disk is full" in upload.failure) == (Upload.State.FAILED, True)
    assert not Run.everything.exists()


def test_a_version_that_comes_to_nothing_leaves_no_file(eng, resnet, orin, settings, monkeypatch):
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16, time_ms=1.0)
    dataset = dataset_create(user=eng, name="All", description="x", licence="CC0-1.0", filters={})

    def taken_away(version: DatasetVersion) -> None:
        raise Conflict("undone meanwhile")

    monkeypatch.setattr(datasets, "_hold_uploads", taken_away)
    with pytest.raises(Conflict):
        dataset_freeze(dataset=dataset, user=eng)
    assert files(settings) == []


def test_programs_read_on_though_their_last_use_cannot_be_noted(api):
    with refusing('UPDATE "profiling_apitoken"', "database or disk is full"):
        assert api.get("/api/v1/runs/").status_code == 200
    assert ApiToken.objects.get().last_used is None


def test_what_cannot_be_counted_is_let_through():
    with no_room(0):
        cache.set("requests", 3)
    assert cache.get("requests") is None


def test_a_busy_database_is_asked_again_later(api, browser):
    with refusing("INSERT", "database is locked"):
        answer = api.post(
            "/api/v1/workloads/", {"name": "N", "kind": "training", "network": "n", "minibatch": 1}
        )
        page = browser.post("/views/save/", {"page": "run-list", "name": "v", "query": "cores=2"})
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert (page.status_code, "Try again" in page.content.decode()) == (503, True)


def test_a_bug_is_told_to_programs_as_a_problem(eng, monkeypatch):
    monkeypatch.setattr("profiling.api_runs.run_list", lambda: {}["a bug"])
    client = Client(raise_request_exception=False)
    client.force_login(eng)
    answer = client.get("/api/v1/runs/")
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert answer.json()["code"] == "fault"
