"""jetsonlab-boardd: the only part that runs as root. A Unix socket; three requests, one JSON line each.

    {"do": "status"}                                       -> knobs, ranges and a reading
    {"do": "apply", "knobs": [8, 1728000, 624750, 3199000]} -> the knobs now in force
    {"do": "restore"}                                      -> everything as it was found

Knobs are checked against the board's own tables, so the worst a client can do is pick a slow mode. Who
may connect is told by the socket's mode and, again, by the kernel's word on the peer's user.
"""

import argparse
import contextlib
import json
import os
import pwd
import signal
import socket
import socketserver
import struct
import threading
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from profiling.board.base import Board
from profiling.board.fan import FULL
from profiling.board.sysfs import BoardRules, SysfsBoard
from profiling.catalog import device_model_entries
from profiling.errors import BoardError, Forbidden, InvalidInput, LabError
from profiling.knobs import KNOB_NAMES, Knobs

SOCKET = Path("/run/jetsonlab/boardd.sock")
STATE = Path("/var/lib/jetsonlab-boardd/board-state.jsonl")
LONGEST_REQUEST = 4096
PATIENCE_S = 5.0


class Boardd(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Serves `board` on `path` to root and `users` (numeric ids); one request at a time turns knobs."""

    daemon_threads = True

    def __init__(self, board: Board, path: Path, users: Iterable[int] = ()) -> None:
        self.board = board
        self.users = frozenset((0, os.getuid(), *users))
        self.turn = threading.Lock()
        _clear(path)
        before = os.umask(0o117)  # closed to others from its first moment
        try:
            super().__init__(str(path), _Handler)
        finally:
            os.umask(before)

    def answer(self, line: bytes, user: int) -> dict[str, Any]:
        """The reply to one request; a LabError becomes {"ok": false} with its code and message."""
        try:
            if user not in self.users:
                raise Forbidden(f"user {user} may not turn the board's knobs")
            return {"ok": True, **self._do(_parse(line))}
        except LabError as error:
            return {"ok": False, "code": error.code, "message": error.message, "extra": error.extra}

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        with self.turn:
            if request["do"] == "apply":
                return {"knobs": self.board.apply(_knobs(request))}
            if request["do"] == "restore":
                self.board.restore()
                return {"knobs": self.board.current()}
            return {
                "driver": self.board.driver,
                "emulated": self.board.emulated,
                "knobs": self.board.current(),
                "ranges": asdict(self.board.ranges()),
                "reading": self.board.read().as_dict(),
            }


class _Handler(socketserver.StreamRequestHandler):
    timeout = PATIENCE_S
    server: Boardd

    def handle(self) -> None:
        """A client that is slow, gone, or says nothing is dropped without a word."""
        with contextlib.suppress(TimeoutError, ConnectionError):
            line = self.rfile.readline(LONGEST_REQUEST + 1)
            if line:
                reply = self.server.answer(line, peer_user(self.connection))
                self.wfile.write(json.dumps(reply).encode() + b"\n")


def peer_user(connection: socket.socket) -> int:
    """The user id at the other end, as the kernel vouches for it."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[1]


def _parse(line: bytes) -> dict[str, Any]:
    if len(line) > LONGEST_REQUEST:
        raise InvalidInput(f"a request has at most {LONGEST_REQUEST} bytes")
    try:
        request = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"a request is one line of JSON: {error}") from error
    if not isinstance(request, dict) or request.get("do") not in ("apply", "restore", "status"):
        raise InvalidInput('a request is {"do": "apply" | "restore" | "status"}')
    return request


def _knobs(request: dict[str, Any]) -> Knobs:
    values = request.get("knobs")
    if not isinstance(values, list) or [type(value) for value in values] != [int] * len(KNOB_NAMES):
        raise InvalidInput(f"knobs is a list of whole numbers: {', '.join(KNOB_NAMES)}")
    return Knobs(*values)


def _clear(path: Path) -> None:
    """Take a dead daemon's socket away; a living one keeps it, as two would undo each other's work."""
    probe = socket.socket(socket.AF_UNIX)
    try:
        probe.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        path.unlink(missing_ok=True)
    else:
        raise BoardError(f"another jetsonlab-boardd already answers at {path}")
    finally:
        probe.close()


def main(arguments: list[str] | None = None) -> None:
    options = _options(arguments)
    board = SysfsBoard(
        options.root, _rules(options.device_model), state_file=options.state, fan_duty=options.fan
    )
    if options.restore:
        board.restore()
        return
    account = pwd.getpwnam(options.user) if options.user else None
    server = Boardd(board, options.socket, [account.pw_uid] if account else [])
    if account:
        os.chown(options.socket, -1, account.pw_gid)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    try:
        server.serve_forever()
    finally:
        server.server_close()
        options.socket.unlink(missing_ok=True)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("jetsonlab-boardd", description="Turns this board's knobs, as root.")
    parser.add_argument("--socket", type=Path, default=SOCKET)
    parser.add_argument("--user", help="the agent's user, who may connect besides root")
    parser.add_argument("--device-model", help="slug in the catalogue, for rails and clocks the board hides")
    parser.add_argument(
        "--fan", type=int, metavar="0..255", help=f"hold the fan while measuring ({FULL}: full)"
    )
    parser.add_argument("--state", type=Path, default=STATE, help="where the values found are kept")
    parser.add_argument("--root", type=Path, default=Path("/"), help="another tree, for tests")
    parser.add_argument("--restore", action="store_true", help="put the board back as found, and end")
    return parser.parse_args(arguments)


def _rules(slug: str | None) -> BoardRules:
    if slug is None:
        return BoardRules()
    entries = {entry["slug"]: entry for entry in device_model_entries()}
    if slug not in entries:
        raise SystemExit(f"no device model {slug!r}; there are {', '.join(entries)}")
    return BoardRules.from_entry(entries[slug])


if __name__ == "__main__":
    main()
