"""The unprivileged side: a Board whose knobs jetsonlab-boardd turns, over its Unix socket."""

import json
import socket
from pathlib import Path
from typing import Any

from profiling.board.base import Clock, Reading, SystemClock
from profiling.board.register import Description, describe
from profiling.errors import BoardError, Conflict, Forbidden, InvalidInput, LabError
from profiling.knobs import KnobRange, Knobs

ERRORS: dict[str, type[LabError]] = {
    error.code: error for error in (InvalidInput, Forbidden, Conflict, BoardError)
}
PATIENCE_S = 30.0  # a switch of cores and clocks takes a second or two on a slow board


class RemoteBoard:
    """One connection a request, so a daemon that was restarted in between is no matter.

    Raises what the daemon's board raised; BoardError when nobody answers at `path`.
    """

    def __init__(self, path: Path, *, clock: Clock | None = None) -> None:
        self.path = path
        self.clock: Clock = clock or SystemClock()
        status = self._ask(do="status")
        self.driver: str = status["driver"]
        self.emulated: bool = status["emulated"]
        self._ranges = KnobRange(**{name: tuple(values) for name, values in status["ranges"].items()})

    def ranges(self) -> KnobRange:
        return self._ranges

    def current(self) -> Knobs:
        return Knobs(*self._ask(do="status")["knobs"])

    def apply(self, knobs: Knobs) -> Knobs:
        return Knobs(*self._ask(do="apply", knobs=list(knobs))["knobs"])

    def read(self) -> Reading:
        return Reading.from_dict(self._ask(do="status")["reading"])

    def restore(self) -> None:
        self._ask(do="restore")

    def describe(self) -> Description:
        return describe(ranges=self._ranges)

    def _ask(self, **request: Any) -> dict[str, Any]:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PATIENCE_S)
                connection.connect(str(self.path))
                connection.sendall(json.dumps(request).encode() + b"\n")
                with connection.makefile("rb") as file:
                    reply = json.loads(file.readline())
        except (OSError, ValueError) as error:
            raise BoardError(
                f"no answer from jetsonlab-boardd at {self.path} ({error}); is its service running, and "
                "is this user in its group?"
            ) from error
        if not reply["ok"]:
            raise ERRORS.get(reply["code"], BoardError)(reply["message"], **reply["extra"])
        return reply
