import os
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jetsonlab.settings")

site = get_wsgi_application()


class WholeBody:
    """A request's body; OSError where it ends before the length that was announced.

    Servers pass on what came of a connection that died as if it were all, and a table cut between two
    lines looks complete.
    """

    def __init__(self, stream: BinaryIO, announced: int) -> None:
        self.stream, self.missing = stream, announced

    def read(self, size: int = -1) -> bytes:
        return self._counted(self.stream.read(size), size)

    def readline(self, size: int = -1) -> bytes:
        return self._counted(self.stream.readline(size), size)

    def _counted(self, piece: bytes, asked: int) -> bytes:
        self.missing -= len(piece)
        if not piece and asked and self.missing > 0:
            raise OSError(f"the connection ended {self.missing:,} bytes too early")
        return piece


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    announced = environ.get("CONTENT_LENGTH") or ""
    if announced.isdecimal():
        environ["wsgi.input"] = WholeBody(environ["wsgi.input"], int(announced))
    return site(environ, start_response)
