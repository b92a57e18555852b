"""Files as they arrive, of whom and how many."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from profiling import receiving


@pytest.fixture
def spooled(monkeypatch) -> list[str]:
    """A suffix for each file that was begun on disk."""
    begun, really = [], receiving.NamedTemporaryFile

    def noted(*args, **kwargs):
        begun.append(kwargs["suffix"])
        return really(*args, **kwargs)

    monkeypatch.setattr(receiving, "NamedTemporaryFile", noted)
    return begun


@pytest.mark.parametrize("who", [None, "vera"])
@pytest.mark.parametrize("url", ["/login/", "/views/save/", "/workloads/resnet/uploads/", "/api/v1/uploads/"])
def test_who_may_not_upload_writes_nothing_to_disk(who, url, request, resnet, spooled, settings):
    client = Client()
    if who:
        client.force_login(request.getfixturevalue(who))
    client.post(url, {"file": SimpleUploadedFile("a.csv", b"x" * 1000)})
    assert spooled == []
    assert not Path(settings.MEDIA_ROOT, "incoming").exists()


def test_an_engineers_file_is_spooled_once(browser, resnet, orin, spooled):
    sent = {"device_model": orin.slug, "file": SimpleUploadedFile("a.csv", b"x" * 1000)}
    assert browser.post("/workloads/resnet/uploads/", sent).status_code == 302
    assert spooled == [".part"]
