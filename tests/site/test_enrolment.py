import re

import pytest
from django.test import Client

from profiling.models import ApiToken, Device

pytestmark = pytest.mark.django_db


def test_a_host_is_registered_and_its_enrol_command_shown_once(browser):
    answer = browser.post("/new-device/", {"name": "My machine", "driver": "host"}, follow=True)
    assert "Make its enrol command" in answer.content.decode()
    shown = browser.post("/devices/my-machine/token/")
    text = re.search(r"--token (jl_\S+) --device my-machine --driver host", shown.content.decode())[1]
    assert ApiToken.objects.get(digest=ApiToken.digest_of(text)).device.slug == "my-machine"
    assert "no-store" in shown["Cache-Control"]
    assert text not in browser.get("/devices/my-machine/").content.decode()


def test_a_board_without_a_device_model_is_refused_by_its_field(browser):
    answer = browser.post("/new-device/", {"name": "Desk 3", "driver": "sysfs"})
    assert answer.status_code == 422
    assert "name the board&#x27;s device model" in answer.content.decode()
    assert not Device.objects.exists()


def test_viewers_register_nothing(vera, board):
    client = Client()
    client.force_login(vera)
    assert client.post("/new-device/", {"name": "x", "driver": "host"}).status_code == 403
    assert client.post("/devices/desk-1/token/").status_code == 403
    assert "Make its enrol command" not in client.get("/devices/desk-1/").content.decode()
