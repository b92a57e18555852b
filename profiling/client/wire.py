"""Asking the lab over HTTPS, again when it is away, and saying in words when it refuses."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from profiling.errors import LabError

TIMEOUT_S = 60.0
PASSING = {408, 425, 429, 500, 502, 503, 504}
WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
LONGEST_WAIT_S = 60.0


class LabAway(LabError):
    """No answer after all tries: the same may be asked again later."""

    status = 503
    code = "lab_away"


class LabRefused(LabError):
    """The lab understood and said no; `extra` holds its problem, with every bad field or line."""

    code = "lab_refused"

    def __init__(self, message: str, status: int, **extra: Any) -> None:
        super().__init__(message, **extra)
        self.status = status


class Wire:
    """sleep: told the seconds to wait before the next try."""

    def __init__(
        self,
        server: str,
        token: str,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.sleep = sleep
        self.http = httpx.Client(
            base_url=f"{server.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=TIMEOUT_S,
            transport=transport,
        )

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", path, params=query).json()

    def ask(self, method: str, path: str, *, repeat: bool = True, **about: Any) -> httpx.Response:
        """The answer. repeat: whether a second asking does no harm; content may be a function, for each try.

        Raises LabRefused for what the lab will not do, LabAway when no try got an answer.
        """
        for wait_s in (*WAITS_S, None) if repeat else (None,):
            try:
                answer = self.http.request(method, path, **_fresh(about))
            except httpx.TransportError as error:
                failure, asked_s = f"{self.http.base_url} does not answer: {error}", None
            else:
                if answer.status_code not in PASSING:
                    return checked(answer)
                failure, asked_s = problem_of(answer), retry_after_s(answer)
            if wait_s is not None:
                self.sleep(max(wait_s, asked_s or 0))
        raise LabAway(failure)

    @contextmanager
    def stream(self, path: str, **query: Any) -> Iterator[httpx.Response]:
        try:
            with self.http.stream("GET", path, params=query, headers={"Accept": "*/*"}) as answer:
                if answer.is_error:
                    answer.read()
                    checked(answer)
                yield answer
        except httpx.TransportError as error:
            raise LabAway(f"{self.http.base_url} broke off: {error}") from error

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every row of a list, page after page."""
        page = self.get(path, **query)
        yield from page["results"]
        while page.get("next"):  # its query only: behind a proxy the lab may not know its own name
            page = self.get(path, **parse_qs(urlsplit(page["next"]).query))
            yield from page["results"]


def checked(answer: httpx.Response) -> httpx.Response:
    if not answer.is_error and not answer.is_redirect:
        return answer
    raise LabRefused(problem_of(answer), answer.status_code, **_problem(answer))


def problem_of(answer: httpx.Response) -> str:
    said = _problem(answer)
    detail = said.get("detail") or f"{answer.url} answers {answer.status_code}"
    return f"{detail} {said['errors']}" if said.get("errors") else str(detail)


def retry_after_s(answer: httpx.Response) -> float | None:
    text = answer.headers.get("Retry-After", "")
    return min(float(text), LONGEST_WAIT_S) if text.isdecimal() else None


def _problem(answer: httpx.Response) -> dict[str, Any]:
    try:
        said = answer.json()
    except ValueError:
        return {}
    return {k: v for k, v in said.items() if k != "status"} if isinstance(said, dict) else {}


def _fresh(about: dict[str, Any]) -> dict[str, Any]:
    content = about.get("content")
    return {**about, "content": content()} if callable(content) else about
