"""Uploads in pieces: whatever cuts a transfer off, it goes on at the byte it had reached."""

import fcntl
import socket
import struct
from datetime import timedelta

import pytest
from django.utils import timezone

from profiling.api_transfers import pieces
from profiling.models import Run, Transfer, Upload
from profiling.receiving import incoming_folder
from profiling.services import transfers
from profiling.services.imports import upload_work
from profiling.services.transfers import path_of, transfer_take, transfers_forget
from tests.waiting import wait_until

URL = "/api/v1/transfers/"
FILE = b"cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n2,268800,318750,665600,100,10\n"
ASKED = {"filename": "big.csv", "size": len(FILE), "workload": "resnet", "device_model": "orin-mini"}

pytestmark = pytest.mark.usefixtures("resnet", "orin")


@pytest.fixture
def begun(api):
    answer = api.post(URL, ASKED, format="json")
    assert answer.status_code == 201, answer.content
    return answer["Location"]


def patch(api, address, offset, piece):
    return api.generic(
        "PATCH", address, piece, "application/octet-stream", headers={"Upload-Offset": str(offset)}
    )


def test_pieces_become_an_upload_like_any_other(api, begun):
    first = patch(api, begun, 0, FILE[:30])
    assert (first.json()["offset"], first.json()["upload"], first["Upload-Offset"]) == (30, None, "30")
    last = patch(api, begun, 30, FILE[30:]).json()
    upload_work(upload_id=last["upload"])
    assert Upload.objects.get().file.read() == FILE
    assert Run.objects.count() == 1
    assert list(incoming_folder().iterdir()) == []


def test_head_says_where_to_go_on(api, begun):
    patch(api, begun, 0, FILE[:30])
    answer = api.head(begun)
    assert (answer["Upload-Offset"], answer["Upload-Length"]) == ("30", str(len(FILE)))


def test_a_piece_for_another_byte_is_refused_and_told_the_right_one(api, begun):
    patch(api, begun, 0, FILE[:30])
    answer = patch(api, begun, 0, FILE[:30])
    assert (answer.status_code, answer.json()["offset"]) == (409, 30)


def test_a_key_whose_upload_was_undone_begins_a_new_transfer(api):
    headers = {"Idempotency-Key": "k"}
    address = api.post(URL, ASKED, format="json", headers=headers)["Location"]
    upload = patch(api, address, 0, FILE).json()["upload"]
    upload_work(upload_id=upload)
    api.post(f"/api/v1/uploads/{upload}/undo/")
    again = api.post(URL, ASKED, format="json", headers=headers)
    assert (again.status_code, again.json()["offset"]) == (201, 0)
    assert patch(api, again["Location"], 0, FILE).json()["upload"] != upload


def test_what_came_before_the_connection_died_is_kept(begun):
    def dying():
        yield FILE[:10]
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        transfer_take(transfer=Transfer.objects.get(), offset=0, chunks=dying())
    assert path_of(Transfer.objects.get()).read_bytes() == FILE[:10]


def test_two_requests_never_write_at_once(api, begun):
    with path_of(Transfer.objects.get()).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert patch(api, begun, 0, FILE[:30]).status_code == 409


def test_the_answer_to_the_last_piece_can_be_asked_for_again(api, begun):
    upload = patch(api, begun, 0, FILE).json()["upload"]
    assert patch(api, begun, len(FILE), b"").json()["upload"] == upload
    assert api.get(begun).json()["upload"] == upload


def test_the_same_key_goes_on_with_the_first_transfer(api):
    headers = {"Idempotency-Key": "k"}
    first = api.post(URL, ASKED, format="json", headers=headers).json()
    patch(api, f"{URL}{first['id']}/", 0, FILE[:30])
    again = api.post(URL, ASKED, format="json", headers=headers)
    assert (again.status_code, again.json()["offset"]) == (200, 30)
    other = api.post(URL, {**ASKED, "size": 5}, format="json", headers=headers)
    assert other.status_code == 409


def test_a_key_longer_than_we_keep_is_refused_not_cut(api):
    headers = {"Idempotency-Key": "k" * 101}
    answer = api.post(URL, ASKED, format="json", headers=headers)
    assert answer.status_code == 400
    assert "has 101 characters; 100 are the most" in answer.json()["detail"]
    assert not Transfer.objects.exists()


def test_more_bytes_than_announced_are_refused(api, begun):
    assert patch(api, begun, 0, FILE + b"x").status_code == 400


@pytest.mark.parametrize("offset", ["", "-1", "x", "9" * 30])
def test_an_offset_that_is_none_is_refused(api, begun, offset):
    assert patch(api, begun, offset, FILE).status_code == 400


def test_what_it_is_for_is_checked_before_any_byte(api, settings):
    unknown = api.post(URL, {**ASKED, "workload": "resnot"}, format="json")
    assert "resnot" in unknown.json()["errors"]["workload"][0]
    settings.UPLOAD_MAX_BYTES = 10
    assert api.post(URL, ASKED, format="json").status_code == 413


def test_a_person_has_a_few_open_transfers_at_most(api, begun, monkeypatch):
    monkeypatch.setattr(transfers, "OPEN_AT_ONCE", 1)
    assert api.post(URL, ASKED, format="json").status_code == 409
    assert api.delete(begun).status_code == 204
    assert api.post(URL, ASKED, format="json").status_code == 201


def test_a_transfer_left_alone_is_forgotten_with_its_bytes(begun):
    transfers_forget(before=timezone.now() + timedelta(days=2))
    assert Transfer.objects.exists(), "its bytes are still there"
    path_of(Transfer.objects.get()).unlink()
    transfers_forget(before=timezone.now() + timedelta(days=2))
    assert not Transfer.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_killed_connection_leaves_the_bytes_that_arrived(live_server, api, begun, monkeypatch):
    read = []
    monkeypatch.setattr("profiling.api_transfers.PIECE", 8)
    monkeypatch.setattr(
        "profiling.api_transfers.pieces", lambda request: (read.append(p) or p for p in pieces(request))
    )
    host, port = live_server.thread.host, live_server.thread.port
    token = api._credentials["HTTP_AUTHORIZATION"]
    head = f"PATCH {begun} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n"
    head += f"Upload-Offset: 0\r\nContent-Length: {len(FILE)}\r\n\r\n"
    with socket.create_connection((host, port)) as line:
        line.sendall(head.encode() + FILE[:40])
        wait_until(lambda: len(read) == 5)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no goodbye: a reset
    assert wait_until(lambda: api.get(begun).json()["offset"]) == 40
    assert wait_until(lambda: patch(api, begun, 40, FILE[40:]).json().get("upload"))
