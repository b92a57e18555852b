import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from frontend.leaderboard_charts import calibration_figure, contest_figures, most_modes
from modeling.models import Evaluation
from modeling.selectors import references
from modeling.selectors.evaluations import contests, leaderboard
from modeling.services import evaluations
from modeling.services.evaluations import evaluation_import

PAGE, NEW, IMPORT = "/leaderboard/", "/leaderboard/new/", "/leaderboard/import/"


def result(method="gp", profiled=10, target="yolo", **figures) -> dict:
    known = {"time_mape": 8.25, "time_mape_max": 12.5, "power_mape": 4.1, "profiling_min": 3.2}
    held = {"coverage90_time": 88.0, "coverage90_power": None, "fit_s": 1.0, "predict_ms": 20.0}
    scores = {"budgets": 34, "time_penalty": 1.5, "excess_w": 0.2, "over_pct": 9.0, "over_1w_pct": 3.0}
    names = {"target": target, "method": method, "sampling": "random", "profiled": profiled}
    return {**names, **known, **held, "budget": scores, **figures}


@pytest.fixture
def board_of_two(db) -> list[dict]:
    results = [result(method, count) for method in ("gp", "nearest") for count in (5, 10)]
    evaluation_import(title="public tables", results=results)
    return results


def report(content: bytes | str, title="public tables") -> dict:
    data = content if isinstance(content, bytes) else content.encode()
    return {"title": title, "report": SimpleUploadedFile("report.json", data)}


def test_an_empty_leaderboard_gives_the_command(browser):
    assert "python -m modeling.core.evaluate --reference" in browser.get(PAGE).content.decode()


def test_it_shows_every_result_and_its_worst_repeat(browser, board_of_two):
    page = browser.get(PAGE).content.decode()
    assert page.count("8.25 (12.5)") == 4
    assert "Time error against minutes of profiling" in page


def test_a_methods_name_puts_no_tag_into_a_plot(browser):
    evaluation_import(title="sent", results=[result("<u>gp</u>"), result("<u>gp</u>", 5)])
    page = browser.get(PAGE).content.decode()
    assert r"\u003Cu" not in page
    assert r"\u0026lt;u" in page


def test_what_a_method_does_not_state_is_a_dash_not_a_zero(browser):
    evaluation_import(title="old", results=[result(time_mape_max=None)])
    assert '8.25 (<span class="unknown"' in browser.get(PAGE).content.decode()


def test_the_filters_stand_in_the_address(browser, board_of_two):
    page = browser.get(PAGE, {"method": "nearest", "target": "yolo"}).content.decode()
    assert page.count("8.25 (12.5)") == 2
    assert '<option value="nearest" selected>' in page


def test_a_filter_nothing_matches_says_so(browser, board_of_two):
    assert "No result matches" in browser.get(PAGE, {"method": "oracle"}).content.decode()


def test_it_takes_the_same_queries_however_many_evaluations(
    browser, board_of_two, django_assert_max_num_queries
):
    for number in range(5):
        evaluation_import(title=f"title {number}", results=[result()])
    with django_assert_max_num_queries(10):
        browser.get(PAGE)


def test_the_worst_repeat_is_drawn_beside_the_median(board_of_two):
    contest = contests(leaderboard())[0]
    median, worst = contest_figures(contest)["Time error against modes profiled"]["data"][:2]
    assert (median["x"], median["y"], worst["y"]) == ([5, 10], [8.25, 8.25], [12.5, 12.5])
    assert (median["line"]["dash"], worst["line"]["dash"]) == ("solid", "dot")


def test_calibration_shows_the_levels_that_are_known(board_of_two):
    rows = [result(coverage50_time=42.0, coverage95_time=91.0), result("nearest", coverage90_time=None)]
    evaluation_import(title="public tables", results=rows)
    contest = contests(leaderboard())[0]
    assert most_modes(contest) == 10
    _, known = calibration_figure(contest, "time", 10)["data"]
    assert (known["name"], known["x"], known["y"]) == ("gp", [50, 90, 95], [42.0, 88.0, 91.0])


def test_other_ways_of_sampling_are_another_contest(board_of_two):
    evaluation_import(title="public tables", results=[result(sampling="active")])
    assert [each.sampling for each in contests(leaderboard())] == ["active", "random"]


def test_a_report_is_brought_in(browser):
    answer = browser.post(IMPORT, report(json.dumps({"results": [result()]})))
    assert answer.url == PAGE
    assert leaderboard()[0]["title"] == "public tables"


WRONG = [
    b"\xff\xfe",
    '{"results": [{"time_mape": 1e400}]}',
    "[]",
    '{"results": 3}',
    '{"results": []}',
    '{"results": [1]}',
    json.dumps({"results": [result(time_mape=-1)]}),
    json.dumps({"results": [result(fit_s=float("nan"))]}),
    "[" * 100_000,
]


@pytest.mark.parametrize("content", WRONG, ids=range(len(WRONG)))
def test_what_is_no_report_is_refused_with_words(browser, content):
    answer = browser.post(IMPORT, report(content))
    assert answer.status_code == 422
    assert "This is not what" in answer.content.decode()
    assert not Evaluation.objects.exists()


def test_a_figure_that_cannot_be_is_named(browser):
    bad = json.dumps({"results": [result(), result(time_mape=-1)]})
    assert "result 2, time_mape:" in browser.post(IMPORT, report(bad)).content.decode()


@pytest.fixture
def asked(resnet, orin, measure, monkeypatch) -> dict:
    monkeypatch.setattr(references, "REFERENCE_MODES", 30)
    monkeypatch.setattr(evaluations, "REFERENCE_MODES", 30)
    measure(resnet, range(36))
    names = {"workload": "resnet", "device_model": "orin-mini", "methods": ["gp", "nearest"]}
    return {**names, "counts": "5, 10", "repeats": 2, "sampling": "random", "seed": 0}


def test_an_evaluation_is_asked_for_and_followed(browser, asked, eng):
    assert browser.post(NEW, asked).url == PAGE
    evaluation = Evaluation.objects.get()
    assert (evaluation.options["counts"], evaluation.requested_by) == ([5, 10], eng)
    Evaluation.objects.update(state="running", step="gp, method 1 of 2", steps_done=3)
    page = browser.get(PAGE).content.decode()
    assert "3 of 8" in page
    assert 'hx-get="/leaderboard/evaluations/"' in page


def test_when_all_are_done_the_page_is_renewed(browser, asked):
    browser.post(NEW, asked)
    assert "HX-Refresh" not in browser.get("/leaderboard/evaluations/").headers
    Evaluation.objects.update(state="failed", failure="no luck")
    assert browser.get("/leaderboard/evaluations/").headers["HX-Refresh"] == "true"


@pytest.mark.parametrize("counts", ["", "0", "ten", "5,999", "1 2 3 4 5 6 7 8 9"])
def test_counts_that_cannot_be_are_refused(browser, asked, counts):
    assert browser.post(NEW, asked | {"counts": counts}).status_code == 422


def test_too_few_measured_modes_are_said_in_the_form(browser, asked, resnet):
    resnet.runs.all().delete()
    answer = browser.post(NEW, asked)
    assert answer.status_code == 422
    assert "has 0 measured modes" in answer.content.decode()


def test_a_viewer_reads_but_does_not_ask(client, vera, board_of_two):
    client.force_login(vera)
    assert "Evaluate methods" not in client.get(PAGE).content.decode()
    assert client.get(NEW).status_code == 403
