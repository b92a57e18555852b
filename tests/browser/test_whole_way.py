"""The whole way of a new user on a real site: its own web server, worker and emulated board's agent.

With JETSONLAB_PICTURES=folder each step is kept as a picture there, in light and dark, wide and narrow.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from profiling.agent.making import catalogue_entry
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.law import emulated_table
from profiling.knobs import KNOB_NAMES, KnobRange
from profiling.modes import random_modes
from tests.browser.signing_in import sign_in
from tests.site_process import ROOT, Site

BOARD = "agx-orin"
PASSWORD = "a-newcomers-password"
PICTURES = os.environ.get("JETSONLAB_PICTURES")
LOOKS = (("dark", 1440), ("light", 390), ("dark", 390))
RENAME = "from profiling.models import Device; Device.objects.update(name='Emulated AGX Orin')"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path, device_model=BOARD)
    site.manage("collectstatic", "-v0", "--no-input")
    site.manage("shell", "-v0", "-c", RENAME)
    command = [sys.executable, "manage.py", "create_user", "newcomer"]
    subprocess.run(command, cwd=ROOT, env=site.env, input=PASSWORD, text=True, check=True)
    site.start_web()
    site.start_worker()
    site.start_agent(speed=200)
    yield site
    site.close()


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """What forty modes gave on the emulated board, as a lab would have it in a file."""
    entry = catalogue_entry(BOARD)
    ranges = KnobRange(*(tuple(entry[name]) for name in KNOB_NAMES))
    table = pd.DataFrame([ranges.maximum, *random_modes(ranges, 39, seed=1)], columns=list(KNOB_NAMES))
    demand = EmulatedWorkload("ResNet-18", "training", 16, 4)
    table["time_ms"], table["power_mw"] = emulated_table(entry, demand, np.array(table))
    file = tmp_path / "resnet.csv"
    table.round(3).to_csv(file, index=False)
    return file


@pytest.fixture
def newcomer(site: Site, chromium_browser: Browser) -> Iterator[Page]:
    yield from signed_in(site, chromium_browser, "light", 1440)


def signed_in(site: Site, browser: Browser, scheme: str, width: int) -> Iterator[Page]:
    viewport = {"width": width, "height": 900}
    context = browser.new_context(base_url=site.url, color_scheme=scheme, viewport=viewport)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(60_000)
    sign_in(page, "newcomer", PASSWORD)
    yield page
    context.close()


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.wait_for_timeout(1000)
        page.screenshot(path=f"{PICTURES}/{name}.png")


def no_barriers(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def describe(page: Page) -> None:
    page.goto("/new-workload/")
    page.fill("#id_name", "ResNet-18 / ImageNet validation")
    page.fill("#id_network", "ResNet-18")
    page.fill("#id_minibatch", "16")
    page.fill("#id_samples_per_epoch", "50000")
    picture(page, "way-1-workload")
    page.click("text=Create workload")


def upload(page: Page, file: Path) -> None:
    page.select_option("#id_device_model", BOARD)
    page.select_option("#id_device", label="Emulated AGX Orin")
    page.set_input_files("#id_file", file)
    page.locator("[data-upload] button").click()
    expect(page.locator("#upload-rows")).to_contain_text("done", timeout=120_000)
    picture(page, "way-2-upload")


def predict(page: Page) -> None:
    page.reload()
    page.click("button:text-is('Predict')")
    page.get_by_text("Plan with it").wait_for(timeout=180_000)
    picture(page, "way-3-predict")


def plan(page: Page) -> None:
    page.click("text=Plan with it")
    page.locator("#plan-plot .main-svg").first.wait_for()
    page.fill("#id_power_w", "20")
    page.press("#id_power_w", "Tab")
    expect(page.locator("dt:text-is('Chance to keep the budget')")).to_be_visible()
    picture(page, "way-4-plan")


def compare(page: Page) -> Locator:
    page.click("summary:has-text('Best modes, side by side')")
    page.locator("[data-pin]").first.click()
    sides = page.get_by_role("region", name="Modes side by side")
    expect(sides).to_contain_text("Your mode")
    sides.scroll_into_view_if_needed()
    picture(page, "way-5-compare")
    return sides


def block(page: Page) -> str:
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    return download.value.path().read_text()


def verify(page: Page) -> None:
    page.click("text=Keep this plan")
    page.wait_for_url("**/plans/*/")
    page.click("text=Verify on Emulated AGX Orin")
    expect(page.locator("#verification h2")).to_contain_text("Verified on", timeout=180_000)
    picture(page, "way-6-verify")


def test_from_signing_in_to_a_verified_mode(
    newcomer: Page, measured: Path, site: Site, chromium_browser: Browser
) -> None:
    page = newcomer
    describe(page)
    upload(page, measured)
    predict(page)
    plan(page)
    planned = page.url
    assert re.search(r"[+−][\d.]+ %", compare(page).inner_text())
    assert "POWER_MODEL ID=" in block(page)
    verify(page)
    first = page.locator("#verification tbody tr").first
    assert re.search(r"[+−][\d.]+ %", first.inner_text())
    for scheme, width in LOOKS:
        for again in signed_in(site, chromium_browser, scheme, width):
            for name, address in (("4-plan", planned), ("6-verify", page.url)):
                again.goto(address)
                again.wait_for_load_state("networkidle")
                no_barriers(again)
                picture(again, f"way-{name}-{scheme}-{width}")
