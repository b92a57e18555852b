"""Registering many boards by a table: looked at first, then all or none."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from profiling.models import Device
from profiling.models.audit import AuditEntry

URL = "/new-devices/"
GOOD = (
    "name,device_model,driver,location\nOne,orin-mini,sysfs,shelf 2\nTwo,Orin Mini,emulated,\nPC,,host,desk\n"
)


def lines(browser, text, step="look"):
    answer = browser.post(URL, {"text": text, "step": step})
    return {line.number: line.faults for line in answer.context["lines"]}


def test_a_look_registers_nothing(browser, orin):
    assert lines(browser, GOOD) == {2: [], 3: [], 4: []}
    assert not Device.objects.exists()
    assert not AuditEntry.objects.filter(action="device-create").exists()


def test_all_boards_are_registered(browser, orin, eng):
    assert browser.post(URL, {"text": GOOD, "step": "register"}).url == "/devices/"
    boards = {board.name: board for board in Device.objects.all()}
    assert (boards["One"].location, boards["Two"].driver) == ("shelf 2", "emulated")
    assert (boards["One"].device_model, boards["One"].owner) == (orin, eng)
    assert boards["PC"].device_model.is_host


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Three,thor,sysfs,", "there is no device model 'thor'"),
        ("one,orin-mini,sysfs,", "there is a board called 'one' already"),
        (",orin-mini,sysfs,", "the name is empty"),
        ("Three,orin-mini,magic,", "driver"),
        ("Three,orin-mini,host,", "leave the device model away"),
        ("Three,,sysfs,", "name the board's device model"),
        ("Three,orin-mini,sysfs,here,there", "5 cells for 4 columns"),
        (f"{'n' * 120},orin-mini,sysfs,", "name"),
    ],
)
def test_one_bad_line_keeps_all_out_and_is_named(browser, orin, line, said):
    told = lines(browser, f"{GOOD}\n{line}\n", "register")
    assert said in " ".join(told[6])
    assert told[2] == told[3] == []
    assert not Device.objects.exists()


def test_a_spreadsheets_file_is_read(browser, orin):
    table = "\ufeffName;Device model;Location\r\nZähler;orin-mini;Büro\r\n".encode()
    browser.post(URL, {"file": SimpleUploadedFile("boards.csv", table), "step": "register"})
    assert Device.objects.get().location == "Büro"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a first line"),
        ("name\n", "needs a first line"),
        ("board,colour\nA,red\n", "is no column"),
        ("name,name\nA,B\n", "comes twice"),
        ("location\nhere\n", "is missing"),
        ('name\n"A\n', "cannot be read"),
        ("name\n" + "A\n" * 501, "At most 500"),
    ],
)
def test_a_table_that_is_none_is_refused(browser, orin, text, said):
    answer = browser.post(URL, {"text": text, "step": "look"})
    assert answer.status_code == 400
    assert said in answer.content.decode()


@pytest.mark.parametrize(("content", "said"), [(b"\xff\xfe\x00", "no UTF-8"), (b"a" * 1_000_001, "at most")])
def test_a_file_that_is_no_table_is_refused(browser, orin, content, said):
    answer = browser.post(URL, {"file": SimpleUploadedFile("b.csv", content)})
    assert answer.status_code == 400
    assert said in answer.content.decode()


def test_a_viewer_registers_none(client, vera, orin):
    client.force_login(vera)
    assert client.post(URL, {"text": GOOD, "step": "register"}).status_code == 403
