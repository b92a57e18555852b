"""The main walk in a real browser: sign in, describe a workload, upload, predict, plan."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from modeling.services.evaluations import evaluation_import
from profiling.models import DeviceModel, Run, Workload
from tests.modeling.conftest import truth
from tests.site.test_leaderboard import result

pytestmark = pytest.mark.django_db(transaction=True)
HEADER = "cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w"
FEW = range(0, 36, 3)


def table(board: DeviceModel) -> list[str]:
    knobs = board.all_modes()[list(FEW)]
    rows = zip(knobs.tolist(), *truth(knobs), strict=True)
    return [f"{','.join(map(str, mode))},{time:.3f},{power / 1000:.3f}" for mode, time, power in rows]


@pytest.fixture
def measurements(orin: DeviceModel, tmp_path: Path) -> Path:
    file = tmp_path / "few.csv"
    file.write_text("\n".join([HEADER, *table(orin), "2,268800,318750,665600,-1,9"]) + "\n")
    return file


def no_violations(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in found] == []


def no_overflow(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_from_signing_in_to_the_plan(signed_in: Page, orin: DeviceModel, measurements: Path) -> None:
    page = signed_in
    no_violations(page)
    page.click("text=New workload")
    page.fill("#id_name", "ResNet-18 / ImageNet")
    page.fill("#id_network", "ResNet-18")
    page.fill("#id_minibatch", "16")
    page.fill("#id_samples_per_epoch", "50000")
    no_violations(page)
    page.click("text=Create workload")
    expect(page.locator("h1")).to_have_text("ResNet-18 / ImageNet")

    page.select_option("#id_device_model", "orin-mini")
    page.set_input_files("#id_file", measurements)
    page.click("text=Upload >> visible=true >> nth=-1")
    page.click("#upload-rows a:text-is('decide on its bad lines')")
    expect(page.locator("h2.warn")).to_have_text("1 of 13 lines need a decision")
    expect(page.get_by_role("region", name="Bad lines")).to_contain_text("negative")
    no_violations(page)
    page.get_by_role("button", name="Import the good lines").click()
    expect(page.locator("h2.ok")).to_have_text("12 lines imported")

    page.click("text=Go to the workload")
    no_violations(page)
    page.click("button:text-is('Predict')")
    page.wait_for_selector("text=Plan with it")
    page.wait_for_selector("[data-plot='own-time'] .main-svg")
    no_violations(page)
    page.click("text=Plan with it")
    page.wait_for_selector("#plan-plot .js-plotly-plot, #plan-plot .main-svg")
    no_violations(page)
    no_overflow(page)

    page.fill("#id_power_w", "20")
    page.press("#id_power_w", "Tab")
    expect(page.locator("dt:text-is('Chance to keep the budget')")).to_be_visible()
    assert "power_w=20" in page.url
    assert "time_ms" not in page.url
    expect(page.locator("#nvpmodel")).to_contain_text("POWER_MODEL")
    page.click("text=Keep this plan")
    expect(page.locator("h1")).to_contain_text("fastest within 20 W, risk 5 %")
    no_violations(page)


def test_the_budget_line_moves_by_keys_and_the_zoom_stays(signed_in: Page, planned: str) -> None:
    page = signed_in
    page.goto(planned)
    line = page.get_by_role("slider", name="Power limit, W")
    line.wait_for()
    page.evaluate("Plotly.relayout('plan-plot', {'xaxis.range': [10, 30]})")
    line.focus()
    page.keyboard.press("PageDown")
    page.wait_for_url("**power_w=25.0**")
    expect(page.locator("#id_power_w")).to_have_value("25.0")
    page.wait_for_timeout(300)
    assert page.evaluate("document.getElementById('plan-plot')._fullLayout.xaxis.range") == [10, 30]


def test_a_budget_nothing_keeps_says_by_how_much(signed_in: Page, planned: str) -> None:
    page = signed_in
    page.goto(f"{planned}&power_w=2")
    expect(page.locator("#plan-answer")).to_contain_text("No mode keeps 2 W at this risk.")


def test_a_key_opens_what_a_term_means_and_escape_closes_it(signed_in: Page, planned: str) -> None:
    page = signed_in
    page.goto(planned)
    page.locator("abbr:text-is('Pareto front')").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".bubble")).to_contain_text("no other mode beats")
    no_overflow(page)
    page.keyboard.press("Escape")
    expect(page.locator(".bubble")).to_have_count(0)


@pytest.fixture
def planned(live_server: object, eng: object, orin: DeviceModel, resnet: Workload) -> str:
    """The address of a planner that has something to show."""
    from modeling.services.predictors import predictor_request

    knobs = orin.all_modes()[list(FEW)]
    for (cores, cpu, gpu, mem), time, power in zip(knobs.tolist(), *truth(knobs), strict=True):
        facts = {"cores": cores, "cpu_khz": cpu, "gpu_khz": gpu, "mem_khz": mem, "minibatch": 16}
        Run.objects.create(workload=resnet, device_model=orin, time_ms=time, power_mw=power, **facts)
    predictor_request(workload=resnet, device_model=orin, method="linear")
    return "/plan/?workload=resnet&device_model=orin-mini"


PATHS = (
    "/",
    "/workloads/",
    "/workloads/resnet/",
    "/datasets/",
    "/uploads/",
    "/published/",
    "/runs/",
    "/runs/?columns=file&sort=-time_ms&cores__gte=2",
    "/runs/explore/",
    "/compare/",
    "/sweeps/",
    "/devices/",
    "/new-devices/",
    "/device-models/",
    "/device-models/orin-mini/",
    "/predictors/",
    "/leaderboard/",
    "/leaderboard/?method=gp",
    "/leaderboard/new/",
    "/tokens/",
    "/plans/",
    "/plan/",
    "/plan/assign/?workload=resnet",
    "/search/?q=resnet",
)


def test_a_plot_tells_of_the_mark_under_the_pointer(signed_in: Page, planned: str) -> None:
    signed_in.goto("/runs/explore/")
    inside = signed_in.locator("[data-plot=distribution] .nsewdrag")
    inside.scroll_into_view_if_needed()
    inside.hover(position={"x": 4, "y": 250})
    inside.hover(position={"x": 8, "y": 250})
    expect(signed_in.locator("[data-plot=distribution] .hovertext")).to_contain_text(" ms")


@pytest.fixture
def evaluated(live_server: object) -> None:
    methods = [(name, count) for name in ("gp", "nearest") for count in (5, 20)]
    results = [result(name, count, coverage50_time=45.0, coverage95_time=92.0) for name, count in methods]
    evaluation_import(title="public tables", results=results, emulated=True)


def test_no_page_has_barriers_or_runs_over_the_edge(signed_in: Page, planned: str, evaluated: None) -> None:
    for path in PATHS:
        signed_in.goto(path)
        no_violations(signed_in)
        no_overflow(signed_in)
