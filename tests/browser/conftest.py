"""A real Chromium on a real server. The worker's tasks run at once, in the request that asks for them."""

from collections.abc import Iterator
from typing import Any

import pytest
from celery.canvas import Signature
from playwright.sync_api import Browser, Page, expect, sync_playwright

from jetsonlab.celery import app
from tests.browser.signing_in import sign_in
from tests.servers import chromium

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Plotly gives the fields of a colour bar an empty style, which the policy refuses: the hash of nothing.
KNOWN = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def chromium_browser() -> Iterator[Browser]:
    program = chromium()
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, where Django would refuse to ask the database.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        opened = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def tasks_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    app.loader.import_default_modules()
    # Messages by name would go to the broker even when eager.
    monkeypatch.setattr(Signature, "delay", lambda self: app.tasks[self.task].apply(self.args))
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture(params=["light", "dark"])
def scheme(request: Any) -> str:
    return request.param


@pytest.fixture
def page(chromium_browser: Browser, live_server: Any, scheme: str) -> Iterator[Page]:
    """A signed-out page; errors on its console fail the test."""
    width = 1440 if scheme == "light" else 390
    context = chromium_browser.new_context(
        base_url=live_server.url, color_scheme=scheme, viewport={"width": width, "height": 900}
    )
    errors: list[str] = []
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert [said for said in errors if KNOWN not in said] == []


@pytest.fixture
def signed_in(page: Page, eng: Any) -> Page:
    sign_in(page, "eng", "eng-long-password")
    return page
