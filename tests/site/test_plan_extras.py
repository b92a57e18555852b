"""The sections under a plan: each answers with its own part of the page, from the address alone."""

import csv
import io

import pytest
from django.urls import reverse

from modeling.selectors.landscape import landscape

PAIR = {"workload": "resnet", "device_model": "orin-mini"}
SECTIONS = [
    "plan-parallel",
    "plan-map",
    "plan-knobs",
    "plan-best",
    "plan-budgets",
    "plan-what-if",
    "plan-board",
]
CONF = """< PARAM TYPE=FILE NAME=CPU_ONLINE >
CORE_0 /sys/devices/system/cpu/cpu0/online
< POWER_MODEL ID=0 NAME=MAXN >
CPU_ONLINE CORE_0 1
< PM_CONFIG DEFAULT=0 >
"""


@pytest.fixture
def ask(browser, ready):
    def get(section, **question):
        return browser.get(reverse(section), {**PAIR, **question}, headers={"HX-Request": "true"})

    return get


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("question", [{}, {"power_w": 20}, {"power_w": 1}])
def test_every_section_answers_every_question(ask, section, question):
    answer = ask(section, **question)
    assert answer.status_code == 200
    assert "<html" not in answer.content.decode()


def test_without_scripts_a_section_is_a_page_that_leads_back(browser, ready):
    page = browser.get(reverse("plan-budgets"), {**PAIR, "power_w": 20}).content.decode()
    assert "<html" in page
    assert "/plan/?workload=resnet&amp;device_model=orin-mini&amp;power_w=20" in page


@pytest.mark.parametrize("section", SECTIONS)
def test_without_predictions_a_section_says_what_is_missing(browser, resnet, orin, section):
    assert browser.get(reverse(section), PAIR).status_code == 409


@pytest.mark.parametrize(
    "wrong",
    [
        {"map_x": "volts"},
        {"map_x": "cores", "map_y": "cores"},
        {"brush": "power_w:ten:20"},
        {"brush": "volts:1:2"},
        {"pin": "1,2,3,4,5"},
        {"pin": "99999"},
        {"price": "-1"},
        {"device": "nobody"},
    ],
)
def test_what_makes_no_sense_is_refused_in_words(ask, wrong):
    section = "plan-map" if "map_x" in wrong else "plan-best"
    assert ask(section, **wrong).status_code == 400


def test_the_page_opens_the_sections_named_in_the_address(browser, ready):
    page = browser.get(reverse("plan"), {**PAIR, "open": "map,best"}).content.decode()
    assert 'data-section="map" open' in page
    assert 'data-section="best" open' in page
    assert 'data-section="knobs" open' not in page


@pytest.mark.parametrize("form", ["flat", "surface"])
def test_the_map_marks_its_minimum(ask, form):
    shown = ask("plan-map", map_as=form, map_of="power_mw", map_rest="least")
    cells, least, *_ = shown.context["figure"]["data"]
    values = cells.get("customdata", cells["z"])
    assert min(min(row) for row in values) == pytest.approx(shown.context["map"].least_value / 1000, 1e-3)
    assert least["x"][0] in cells["x"]


def test_pinned_modes_stand_beside_the_chosen_one(ask):
    page = ask("plan-best", power_w=20, pin="35,0").content.decode()
    assert "Side by side" in page
    assert "Mode 35" in page
    assert "beyond the budget" in page


def test_ranges_kept_on_the_axes_narrow_the_table(ask):
    shown = ask("plan-best", brush="cores:2:2,power_w:0:15")
    assert "Only cores 2 to 2 and power 0 to 15 W" in shown.content.decode()
    for each in shown.context["best"].modes:
        assert each.knobs.cores == 2
        assert each.power_mw.value <= 15_000


def test_what_if_tells_the_cheapest_mode_by_a_deadline(ask, resnet):
    shown = ask("plan-what-if", epochs=2, deadline_h=50, battery_wh=500, price=0.3)
    cheapest = shown.context["cheapest"]
    assert cheapest.feasible
    assert cheapest.mode.epoch_s.value * 2 <= 50 * 3600
    assert "Cheapest by the deadline" in shown.content.decode()


def test_what_if_plans_for_a_days_sun_and_the_enclosures_cooling(ask, resnet):
    shown = ask("plan-what-if", sun_wh=480, cooling_w=15)
    assert shown.context["steady"].question.power_mw == 15_000
    assert shown.context["steady"].mode.power_mw.value < 15_000
    assert ask("plan-what-if", sun_wh=480).context["steady"].question.power_mw == 20_000
    assert ask("plan-what-if", sun_wh=480, power_w=12).context["steady"].question.power_mw == 12_000
    assert "No mode runs on 1.00 W" in ask("plan-what-if", cooling_w=1).content.decode()


def test_what_if_says_why_it_cannot_speak_of_epochs(ask, resnet):
    resnet.samples_per_epoch = None
    resnet.save()
    page = ask("plan-what-if", epochs=2, deadline_h=50).content.decode()
    assert "samples per epoch are not known" in page
    assert "Energy a day" in page


def test_a_board_gets_its_block_checked_against_its_own_file(ask, board):
    board.nvpmodel_conf = CONF
    board.save()
    page = ask("plan-board", device="desk-1").content.decode()
    assert "is not defined by any PARAM section" in page
    assert "What changes against MAXN" in page
    assert "needs no reboot" in page


def test_a_board_without_a_file_says_so(ask, board):
    assert "has sent no nvpmodel file" in ask("plan-board", device="desk-1").content.decode()


def test_the_modes_are_a_table_to_take_along(ask, resnet, orin):
    rows = list(csv.DictReader(io.StringIO(ask("plan-modes").content.decode())))
    land = landscape(workload=resnet, device_model=orin)
    assert [float(row["time_ms"]) for row in rows] == pytest.approx(land.prediction.time_ms, rel=1e-5)
    assert {row["origin"] for row in rows} == {"measured", "predicted"}
    assert [row["cores"] for row in rows[::12]] == ["2", "4", "6"]


def test_other_budgets_are_round_and_each_asks_the_planner(ask, resnet, orin):
    page = ask("plan-budgets", power_w=20.5, objective="fastest", cores_max=4)
    rows = page.context["budgets"]
    powers = [each["power_mw"] for each in rows]
    assert powers == sorted(powers)
    assert 20_500 in powers
    assert 5 <= len(powers) <= 14
    assert {power % 1000 for power in powers} <= {0, 500}
    assert "cores_max=4" in rows[0]["address"]
    assert f"power_w={rows[0]['watts']}" in rows[0]["address"]
    times = [each["mode"].time_ms.value for each in rows if each["feasible"]]
    assert times == sorted(times, reverse=True)
