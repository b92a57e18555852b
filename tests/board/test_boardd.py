"""The root helper and its client, over a real socket and, once, in a real process of its own."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from profiling.board.boardd import LONGEST_REQUEST, Boardd
from profiling.board.remote import RemoteBoard
from profiling.errors import BoardError, Forbidden, InvalidInput
from profiling.knobs import Knobs
from tests.board.test_sysfs import SLOW, board_of
from tests.contracts_board import BoardContract
from tests.waiting import wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(board, path=tmp_path / "boardd.sock"):
        servers.append(Boardd(board, path))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.02}).start()
        return servers[-1], path

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


class TestRemoteBoard(BoardContract):
    @pytest.fixture
    def board(self, tmp_path, serve):
        _, path = serve(board_of("orin-nano-8gb", tmp_path / "root"))
        return RemoteBoard(path)


@pytest.fixture
def orin_daemon(tmp_path, serve):
    return serve(board_of("agx-orin", tmp_path / "root"))


def say(path, line):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(line)
        return json.loads(connection.makefile().readline())


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"[]\n",
        b"{not json}\n",
        b'{"do": "shell"}\n',
        b'{"do": "apply"}\n',
        b'{"do": "apply", "knobs": [1, 2, 3]}\n',
        b'{"do": "apply", "knobs": [true, 268800, 216750, 665600]}\n',
        b'{"do": "apply", "knobs": ["8", 268800, 216750, 665600]}\n',
        b'{"do": "apply", "knobs": [8, 268801, 216750, 665600]}\n',
        b"x" * (LONGEST_REQUEST + 10) + b"\n",
    ],
)
def test_anything_but_its_three_requests_is_refused_and_changes_nothing(orin_daemon, line):
    server, path = orin_daemon
    before = server.board.current()
    reply = say(path, line)
    assert (reply["ok"], reply["code"]) == (False, "invalid_input")
    assert server.board.current() == before


def test_the_socket_is_closed_to_others(orin_daemon):
    assert oct(orin_daemon[1].stat().st_mode)[-3:] == "660"


def test_a_user_not_on_the_list_is_refused_by_the_kernels_word(orin_daemon):
    server, path = orin_daemon
    server.users = frozenset({123456})
    with pytest.raises(Forbidden, match="may not turn the board's knobs"):
        RemoteBoard(path)


def test_the_boards_own_error_reaches_the_client_with_its_details(tmp_path, serve):
    _, path = serve(board_of("agx-orin", tmp_path / "root", caps={"mem": 2133000}))
    board = RemoteBoard(path)
    with pytest.raises(BoardError, match="the kernel settled on 2133000") as caught:
        board.apply(Knobs(12, 2201600, 1300500, 3199000))
    assert caught.value.extra["asked"] == 3199000
    with pytest.raises(InvalidInput, match="gpu_khz"):
        board.apply(SLOW._replace(gpu_khz=5))


def test_nobody_at_the_socket_says_what_to_look_at(tmp_path):
    with pytest.raises(BoardError, match="is its service running"):
        RemoteBoard(tmp_path / "none.sock")


def test_a_second_daemon_refuses_to_start(orin_daemon, tmp_path):
    server, path = orin_daemon
    with pytest.raises(BoardError, match="already answers"):
        Boardd(server.board, path)


def test_a_silent_client_does_not_block_the_next(orin_daemon):
    _, path = orin_daemon
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(path))
        assert RemoteBoard(path).driver == "sysfs"


def daemon(root, path, *more):
    command = [sys.executable, "-m", "profiling.board.boardd", "--root", str(root), "--socket", str(path)]
    return subprocess.Popen([*command, "--state", str(root / "state"), "--device-model", "agx-orin", *more])


def answering(path):
    with contextlib.suppress(BoardError):  # the file appears a moment before anybody listens
        return RemoteBoard(path)
    return None


def test_a_killed_daemon_leaves_a_state_that_its_restore_option_undoes(tmp_path):
    root, path = tmp_path / "root", tmp_path / "boardd.sock"
    found = board_of("agx-orin", root, kernel=False).current()
    process = daemon(root, path)
    assert wait_until(lambda: answering(path)).apply(SLOW) == SLOW
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert daemon(root, path, "--restore").wait(60) == 0
    assert board_of("agx-orin", root, kernel=False).current() == found


def test_a_daemon_told_to_end_takes_its_socket_with_it(tmp_path):
    root, path = tmp_path / "root", tmp_path / "boardd.sock"
    board_of("agx-orin", root, kernel=False)
    process = daemon(root, path)
    wait_until(lambda: answering(path))
    process.terminate()
    assert process.wait(60) == 0
    assert not path.exists()


@pytest.mark.parametrize("name", ["boardd", "agent"])
def test_the_units_are_hardened(name):
    unit = (DEPLOY / f"jetsonlab-{name}.service").read_text()
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes"):
        assert line in unit
    assert ("User=jetsonlab" in unit) == (name == "agent")
