"""The page Explore, on a board whose law is known."""

import csv
import io

import pytest

from profiling.models import Device, Run
from tests.modeling.conftest import truth

URL = "/runs/explore/"
TABLES = ("coverage", "map", "distribution", "curves", "repeats", "boards", "outliers")


@pytest.fixture
def runs(resnet, orin, board):
    """All 36 modes on one board; the first 6 also on another that is 4 % slower."""
    other = Device.objects.create(slug="desk-2", name="Desk 2", device_model=orin)
    knobs = orin.all_modes()
    times, powers = truth(knobs)
    rows = [
        (board, mode, time, power) for mode, time, power in zip(knobs.tolist(), times, powers, strict=True)
    ]
    rows += [(other, mode, time * 1.04, power) for _, mode, time, power in rows[:6]]
    Run.objects.bulk_create(
        Run(
            workload=resnet, device_model=orin, device=device, minibatch=16, time_ms=time, power_mw=power,
            **dict(zip(("cores", "cpu_khz", "gpu_khz", "mem_khz"), mode, strict=True)),
        )
        for device, mode, time, power in rows
    )  # fmt: skip


def table(browser, name, **asked):
    text = browser.get(f"{URL}{name}.csv", asked).content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_without_runs_it_says_how_to_get_some(browser, db):
    assert "Plots come with the first measurements" in browser.get(URL).content.decode()


def test_every_plot_is_there_and_labelled(browser, runs):
    page = browser.get(URL).content.decode()
    for name in ("coverage", "map", "distribution", "curve-1", "boards"):
        assert f'data-plot="{name}"' in page
    assert "36 of 36 modes" in page
    assert "from an emulated board" not in page


def test_emulated_runs_are_another_group_and_labelled(browser, runs, resnet, orin):
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16, time_ms=5, emulated=True)
    page = browser.get(URL, {"group": "resnet~orin-mini~16~emulated"}).content.decode()
    assert "from an emulated board" in page
    assert len(browser.get(URL).context["seen"].sample) == 42


def test_coverage_counts_the_modes_of_each_cell(browser, runs):
    held = table(browser, "coverage", cores__lte=4)
    assert {(row["modes_measured"], row["modes_legal"]) for row in held} == {("4", "6")}


def test_the_map_is_that_of_the_api(browser, api, runs):
    asked = {"x": "mem_khz", "y": "cores", "value": "time_ms", "of": "max"}
    heat = api.get("/api/v1/runs/heat/", asked).json()
    assert [float(row["max_time_ms"]) for row in table(browser, "map", **asked)] == sum(heat["z"], [])


def test_a_knob_is_held_at_one_of_its_values_by_one_choice(browser, api, runs):
    page = browser.get(URL, {"x": "gpu_khz", "y": "cpu_khz"})
    holds = {hold.name: hold for hold in page.context["seen"].holds}
    assert holds["cores"].options == [("2", "2"), ("4", "4"), ("6", "6")]
    assert holds["mem_khz"].options == [("665600", "665.6 MHz"), ("3199000", "3,199 MHz")]
    asked = {"x": "gpu_khz", "y": "cpu_khz", "cores": "4", "mem_khz": "665600"}
    held = api.get("/api/v1/runs/heat/", asked).json()
    assert [float(row["min_time_ms"]) for row in table(browser, "map", **asked)] == sum(held["z"], [])
    page = browser.get(URL, asked).content.decode()
    assert '<option value="665600" selected>665.6 MHz</option>' in page
    assert 'aria-label="Take away Cores = 4"' in page


def test_a_knob_held_on_an_axis_or_off_the_grid_can_be_let_go(browser, runs):
    holds = browser.get(URL, {"x": "cores", "cores": "4"}).context["seen"].holds
    assert [(hold.name, hold.chosen) for hold in holds] == [("cores", "4"), ("gpu_khz", ""), ("mem_khz", "")]
    Run.objects.filter(cores=4).update(cores=5)
    (hold, *_) = browser.get(URL, {"cores": "5"}).context["seen"].holds
    assert (hold.chosen, hold.options[0]) == ("5", ("5", "5"))


def test_filters_without_a_field_of_their_own_outlive_the_next_choice(browser, runs):
    page = browser.get("/runs/", {"cores": "4", "flagged": "false"}).content.decode()
    form = page[page.index('<form class="stack"') : page.index("</form>", page.index('<form class="stack"'))]
    assert '<input type="hidden" name="cores" value="4">' in form
    assert 'type="hidden" name="flagged"' not in form


def test_a_table_of_a_plot_ignores_no_filter(browser, runs):
    answer = browser.get(f"{URL}map.csv", {"flagged": "zzz"})
    assert answer.status_code == 400
    assert "zzz is none of: true, false." in answer.content.decode()


def test_curves_hold_the_other_knobs(browser, runs):
    cores = [row for row in table(browser, "curves") if row["varied"] == "cores"]
    assert [row["cores"] for row in cores] == ["2", "4", "6"]
    assert {(row["cpu_khz"], row["gpu_khz"]) for row in cores} == {("2201600", "1300500")}


def test_boards_tell_the_slower_board(browser, runs):
    by_board = {row["board"]: float(row["departure_pct"]) for row in table(browser, "boards")}
    assert by_board["Desk 2"] == pytest.approx(-by_board["Desk 1"], rel=0.05)


def test_a_boards_name_puts_no_tag_into_a_plot(browser, runs):
    Device.objects.filter(slug="desk-2").update(name="<a href='//evil'>Desk 2</a>")
    assert r"\u003Ca" not in browser.get(URL).content.decode()
    assert "<a href='//evil'>Desk 2</a>" in {row["board"] for row in table(browser, "boards")}


def test_two_boards_that_measure_a_mode_once_each_are_no_repeats(browser, runs):
    assert "No mode was measured twice on the same board" in browser.get(URL).content.decode()
    assert table(browser, "repeats") == []


def test_repeats_are_those_of_one_board(browser, runs):
    again = Run.objects.filter(device__slug="desk-2").earliest("id")
    first_ms, again.pk, again._state.adding = again.time_ms, None, True
    again.time_ms = first_ms * 1.04
    again.save()
    assert len(table(browser, "repeats")) == 2
    seen = browser.get(URL).context["seen"]
    assert seen.spread["modes"] == 1
    assert seen.spread["median"] == pytest.approx(100 * 0.04 / 2**0.5 / 1.02, rel=1e-6)
    assert "Desk 2" in browser.get(URL).content.decode()


def test_the_distribution_has_every_run_once(browser, runs):
    rows = table(browser, "distribution")
    assert sum(int(row["runs"]) for row in rows) == 42
    times = Run.objects.values_list("time_ms", flat=True)
    assert float(rows[0]["time_ms_from"]) == pytest.approx(min(times))
    assert float(rows[-1]["time_ms_to"]) == pytest.approx(max(times))
    assert f"Least {min(times):.1f}" in browser.get(URL).content.decode()


def test_runs_that_fitting_leaves_out_are_counted_with_the_way_to_leave_them_out(browser, runs):
    assert "a flag for which" not in browser.get(URL).content.decode()
    first, second = Run.objects.all()[:2]
    Run.objects.filter(pk=first.pk).update(flags=["throttled"])
    Run.objects.filter(pk=second.pk).update(flags=["hot"])
    page = browser.get(URL).content.decode()
    assert "1 of these runs carries a flag for which no predictor is fitted to it" in page
    assert 'href="?flagged=false"' in page
    assert len(browser.get(URL, {"flagged": "false"}).context["seen"].sample) == 40


def test_a_group_that_the_filters_left_empty_gives_way_and_is_named(browser, runs):
    asked = {"group": "bert~orin-mini~16~measured", "cores": 2}
    page = browser.get(URL, asked).content.decode()
    assert "None of these runs is of bert~orin-mini~16~measured. Shown is ResNet-18" in page
    assert 'data-plot="map"' in page
    assert browser.get(f"{URL}map.csv", asked).status_code == 400


def test_a_run_that_stands_out_is_named(browser, runs, orin):
    run = Run.objects.filter(cpu_khz=1_190_400, cores=4).earliest("id")
    Run.objects.filter(pk=run.pk).update(time_ms=run.time_ms * 20)
    named = table(browser, "outliers")
    assert [int(row["run"]) for row in named] == [run.pk]
    assert f"/runs/{run.pk}/" in browser.get(URL).content.decode()


def test_what_is_left_out_of_many_runs_is_said(browser, runs, monkeypatch):
    monkeypatch.setattr("profiling.selectors.exploring.MOST_RUNS", 10)
    page = browser.get(URL)
    assert len(page.context["seen"].sample) == 10
    assert "Of 42 runs the newest 10 are looked at" in page.content.decode()


def test_the_same_knob_twice_is_said(browser, runs):
    page = browser.get(URL, {"x": "cores", "y": "cores"})
    assert "Take two different knobs" in page.content.decode()
    assert browser.get(f"{URL}map.csv", {"x": "cores", "y": "cores"}).status_code == 400


def test_runs_with_unknown_knobs_are_explored_as_far_as_it_goes(browser, resnet, orin):
    for gpu in (318_750, 1_300_500):
        Run.objects.create(workload=resnet, device_model=orin, minibatch=4, gpu_khz=gpu, time_ms=gpu / 1e4)
    page = browser.get(URL).content.decode()
    assert "0 of 36 modes" in page
    assert "around partly unknown knobs" in page


@pytest.mark.parametrize("name", TABLES)
def test_every_plot_is_a_table_also_when_nothing_is_known(name, browser, runs, resnet, orin):
    assert browser.get(f"{URL}{name}.csv").headers["Content-Type"] == "text/csv; charset=utf-8"
    assert table(browser, name, value="energy_mj", cores=2) is not None


def test_a_plot_that_is_not_there_is_not_found(browser, runs):
    assert browser.get(f"{URL}pie.csv").status_code == 404


def test_the_page_costs_the_same_queries_however_many_runs(browser, runs, django_assert_max_num_queries):
    with django_assert_max_num_queries(16):
        browser.get(URL)
