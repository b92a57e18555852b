"""The agent's words to the server, over HTTPS."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import httpx

from profiling.errors import LabError

TIMEOUT_S = 20.0
PASSING = {408, 425, 429}


class ServerAway(LabError):
    """No answer, or one that will be different later: keep everything and try again."""

    status = 503
    code = "server_away"


class ServerRefused(LabError):
    """The server understood and said no; trying the same again cannot help."""

    code = "server_refused"

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ServerClient:
    """Every call may be repeated; the server takes a second one for the first."""

    def __init__(
        self, server: str, token: str, agent: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.agent = agent
        self.http = httpx.Client(
            base_url=f"{server.rstrip('/')}/api/v1/agent/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_S,
            transport=transport,
        )

    def ping(self) -> None:
        """Whether the server is there and takes this token; changes nothing."""
        self._post("ping/")

    def enroll(self, description: dict[str, Any]) -> None:
        self._post("enroll/", agent=self.agent, description=description)

    def tell_mode(self, knobs: dict[str, int] | None, by: str) -> None:
        """What somebody applied on the board by hand; None: it was put back."""
        self._post("mode/", agent=self.agent, knobs=knobs, by=by)

    def claim(self) -> dict[str, Any] | None:
        """The next run to measure, or None when there is nothing to do."""
        return self._post("claim/", agent=self.agent)

    def heartbeat(self, run: int, status: dict[str, Any]) -> bool:
        """False when the run was cancelled."""
        answer = self._post(f"runs/{run}/heartbeat/", agent=self.agent, status=status)
        return bool(answer and answer["go_on"])

    def deliver(self, run: str | int, body: dict[str, Any]) -> None:
        self._post(f"runs/{run}/result/", **body)

    def fail(self, run: int, reason: str, *, again: bool) -> None:
        self._post(f"runs/{run}/failure/", reason=readable(reason)[-4000:] or "no reason given", again=again)

    @contextmanager
    def package(self, sha256: str) -> Iterator[Iterator[bytes]]:
        """A user's own workload, piece by piece."""
        try:
            with self.http.stream("GET", f"packages/{sha256}/") as answer:
                if answer.is_error:
                    answer.read()
                    refuse(answer)
                yield answer.iter_bytes()
        except httpx.HTTPError as error:
            raise ServerAway(f"{self.http.base_url} broke off: {error}") from error

    def _post(self, path: str, **body: Any) -> dict[str, Any] | None:
        try:
            answer = self.http.post(path, json=body)
        except httpx.HTTPError as error:
            raise ServerAway(f"{self.http.base_url} does not answer: {error}") from error
        if answer.is_error:
            refuse(answer)
        return answer.json() if answer.status_code != 204 else None


def readable(words: str) -> str:
    """A workload's last words may be anything; no server takes NUL and its like."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in words)


def refuse(answer: httpx.Response) -> NoReturn:
    if answer.status_code >= 500 or answer.status_code in PASSING:
        raise ServerAway(f"{answer.url} answers {answer.status_code}; trying again later")
    raise ServerRefused(detail_of(answer), answer.status_code)


def detail_of(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.url} answers {answer.status_code}"
