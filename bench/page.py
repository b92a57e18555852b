"""What the planner's page costs a browser, with the 29,232 modes of an AGX Xavier: paint, weight, re-plans.

    python -m bench.page [--replans 200]

A real site in processes of its own and a real Chromium. The predictor is fitted to 50 emulated modes. The
first visit finds an empty cache, the second a filled one. Long tasks are those over 50 ms, as browsers count.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from profiling.agent.making import catalogue_entry
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.law import emulated_table
from profiling.knobs import KNOB_NAMES, KnobRange
from profiling.modes import random_modes
from tests.browser.conftest import ARGUMENTS
from tests.browser.signing_in import sign_in
from tests.servers import chromium
from tests.site_process import Site

BOARD, FEW = "agx-xavier", 50
PAIR = {"workload": "resnet", "device_model": BOARD}
WATCH = """
window.blocked = [];
new PerformanceObserver((seen) => seen.getEntries().forEach((each) => blocked.push(each.duration)))
  .observe({ type: "longtask", buffered: true });
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def measured() -> bytes:
    """A CSV of fifty emulated modes."""
    entry = catalogue_entry(BOARD)
    ranges = KnobRange(*(tuple(entry[name]) for name in KNOB_NAMES))
    knobs = np.array([ranges.maximum, *random_modes(ranges, FEW - 1, seed=1)])
    outcome = np.column_stack(emulated_table(entry, EmulatedWorkload("ResNet-18", "training", 16, 4), knobs))
    rows = [
        ",".join(map(str, [*mode, *each]))
        for mode, each in zip(knobs.tolist(), outcome.tolist(), strict=True)
    ]
    return "\n".join([",".join([*KNOB_NAMES, "time_ms", "power_mw"]), *rows]).encode()


def prepared(folder: Path) -> Site:
    site = Site(folder, device_model=BOARD)
    site.manage("collectstatic", "-v0", "--no-input")
    site.start_web()
    site.start_worker()
    token = {"Authorization": f"Bearer {site.tokens['person']}"}
    form = {**PAIR, "emulated": "true"}
    address = f"{site.url}/api/v1/uploads/"
    httpx.post(address, files={"file": ("few.csv", measured())}, data=form, headers=token).raise_for_status()
    site.wait(lambda: site.api("GET", "runs/facets/")["count"] == FEW)
    made = site.api("POST", "predictors/", **PAIR)["id"]
    site.wait(lambda: site.api("GET", f"predictors/{made}/")["state"] == "ready", 120)
    return site


def visit(page: Page, address: str) -> dict[str, float]:
    """First paint, ms; time until the plot stands, ms; bytes over the wire; the longest task, ms."""
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    sizes: list[float] = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(address)
    page.locator("#plan-plot .main-svg").first.wait_for()
    stands = page.evaluate("performance.now()")
    page.wait_for_timeout(2000)
    blocked = page.evaluate("blocked")
    return {
        "first_paint_ms": page.evaluate(PAINT),
        "plot_ms": stands,
        "weight_kb": sum(sizes) / 1000,
        "longest_task_ms": max(blocked, default=0.0),
    }


def replan(page: Page, watts: float) -> float:
    """Milliseconds from the request for a plan to its first byte."""
    with page.expect_response(lambda answer: "/plan/?" in answer.url) as waiting:
        page.fill("#id_power_w", f"{watts:g}")
        page.press("#id_power_w", "Tab")
    timing = waiting.value.request.timing
    waiting.value.finished()
    return float(timing["responseStart"] - timing["requestStart"])


def replans(page: Page, count: int) -> dict[str, float]:
    page.evaluate("blocked.length = 0")
    spent = [replan(page, watts) for watts in np.linspace(12, 40, count).round(2)]
    page.wait_for_timeout(500)
    blocked = page.evaluate("blocked")
    return {
        "replans": count,
        "replan_median_ms": statistics.median(spent),
        "replan_p95_ms": statistics.quantiles(spent, n=20)[-1],
        "longest_task_ms": max(blocked, default=0.0),
    }


def signed_in(site: Site, browser: Browser) -> Page:
    context = browser.new_context(base_url=site.url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(WATCH)
    sign_in(page, "ada", "ada-long-password")
    return page


def measure(folder: Path, count: int) -> dict[str, Any]:
    site = prepared(folder)
    address = f"/plan/?workload=resnet&device_model={BOARD}&power_w=20"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
            page = signed_in(site, browser)
            time.sleep(2)
            return {
                "first visit": visit(page, address),
                "second visit": visit(page, address),
                "then": replans(page, count),
            }
    finally:
        site.close()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replans", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.replans)
    if options.json:
        print(json.dumps(found))
        return
    for when, figures in found.items():
        for name, value in figures.items():
            print(f"{when:>14} {name:>18} {value:10,.1f}")


if __name__ == "__main__":
    main()
