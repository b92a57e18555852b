"""Asking the lab over HTTPS, again when it is away, and saying in words when it refuses."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from profiling.errors import InvalidInput, LabError

TIMEOUT_S = 60.0
PASSING = {408, 425, 429, 500, 502, 503, 504}
WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
LONGEST_WAIT_S = 60.0
FAULTS_SAID = 20


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
        return spoken(self._answer(lambda: self.http.request(method, path, **_fresh(about)), repeat))

    @contextmanager
    def stream(self, path: str, **query: Any) -> Iterator[httpx.Response]:
        asked = self.http.build_request("GET", path, params=query, headers={"Accept": "*/*"})
        answer = self._answer(lambda: self.http.send(asked, stream=True), repeat=True)
        try:
            yield answer
        except httpx.TransportError as error:
            raise LabAway(f"{self.http.base_url} broke off: {error}") from error
        finally:
            answer.close()

    def _answer(self, send: Callable[[], httpx.Response], repeat: bool) -> httpx.Response:
        for wait_s in (*WAITS_S, None) if repeat else (None,):
            try:
                answer = send()
                if answer.is_error or answer.is_redirect:
                    answer.read()
            except httpx.LocalProtocolError as error:
                raise InvalidInput(f"This cannot be asked for: {error}") from error
            except httpx.TransportError as error:
                failure, asked_s = f"{self.http.base_url} does not answer: {error}", None
            except ValueError as error:
                raise InvalidInput(f"A number that JSON does not know: {error}") from error
            else:
                if answer.status_code not in PASSING:
                    return checked(answer)
                failure, asked_s = problem_of(answer), retry_after_s(answer)
            if wait_s is not None:
                self.sleep(max(wait_s, asked_s or 0))
        raise LabAway(failure)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every row of a list, page after page."""
        page = self.get(path, **query)
        yield from page["results"]
        while page.get("next"):  # its query only: behind a proxy the lab may not know its own name
            page = self.get(path, **parse_qs(urlsplit(page["next"]).query))
            yield from page["results"]


def spoken(answer: httpx.Response) -> httpx.Response:
    """Whatever else may live at an address, such as the sign-in page of a hotel's network, speaks no JSON."""
    kind = answer.headers.get("Content-Type", "")
    if answer.content and "json" not in kind:
        raise LabRefused(f"{answer.url} is no jetsonlab: it answers with {kind or 'something unnamed'}.", 406)
    return answer


def checked(answer: httpx.Response) -> httpx.Response:
    if answer.is_redirect:
        there = answer.headers.get("Location", "nowhere")
        raise LabRefused(f"{answer.url} leads to {there}. Log in at that address.", answer.status_code)
    if not answer.is_error:
        return answer
    raise LabRefused(problem_of(answer), answer.status_code, **_problem(answer))


def problem_of(answer: httpx.Response) -> str:
    said = _problem(answer)
    detail = said.get("detail") or f"{answer.url} answers {answer.status_code}"
    return f"{detail} {in_words(said['errors'])}" if said.get("errors") else str(detail)


def in_words(errors: Any) -> str:
    """Faults by field, as {"cores": ["…"]}, or by line, as [{"line": 2, "column": "cores", "reason": …}]."""
    if isinstance(errors, dict) and {"line", "reason"} <= errors.keys():
        cell = f" {errors['column']} = {errors.get('value')!r}" if errors.get("column") else ""
        return f"line {errors['line']}{cell} {errors['reason']}"
    if isinstance(errors, dict):
        return "; ".join(f"{name}: {in_words(faults)}" for name, faults in errors.items())
    if isinstance(errors, list):
        more = f"; and {len(errors) - FAULTS_SAID} more" if len(errors) > FAULTS_SAID else ""
        return "; ".join(map(in_words, errors[:FAULTS_SAID])) + more
    return str(errors)


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
