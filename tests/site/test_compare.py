"""The page Compare, on boards whose law is known."""

import csv
import io

import pytest

from profiling.catalog import device_model_entries
from profiling.models import Device, Run, Workload
from profiling.services.catalog import device_model_seed
from tests.modeling.conftest import truth

URL = "/compare/"
MAXN = (6, 2_201_600, 1_300_500, 3_199_000)
KNOBS = ("cores", "cpu_khz", "gpu_khz", "mem_khz")


def measured(workload, orin, factor=1.0, minibatch=16, rows=slice(None), **more):
    knobs = orin.all_modes()[rows]
    for mode, time, power in zip(knobs.tolist(), *truth(knobs), strict=True):
        about = dict(zip(KNOBS, mode, strict=True)) | {"workload": workload, "device_model": orin}
        Run.objects.create(**about, minibatch=minibatch, time_ms=time * factor, power_mw=power, **more)


@pytest.fixture
def other(resnet):
    return Workload.objects.create(
        slug="other", name="Other", kind="training", network="ResNet-18", dataset="ImageNet", minibatch=16
    )


@pytest.fixture
def pair(resnet, other, orin):
    """The same network twice, the second three times as slow and measured in half of the modes."""
    measured(resnet, orin)
    measured(other, orin, 3.0, rows=slice(0, None, 2), extra={"framework": "=Flash"})


def table(browser, name, **asked):
    text = browser.get(f"{URL}{name}.csv", asked).content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def rows(browser, **asked):
    return browser.get(URL, asked).context["seen"].rows


def test_without_runs_it_says_how_to_get_some(browser, db):
    assert "Nothing to compare yet" in browser.get(URL).content.decode()


def test_all_follows_from_time_and_power(browser, pair, orin):
    row = next(each for each in rows(browser, at="fastest") if each.subject.group.workload.slug == "resnet")
    time, power = row.time_ms.value, row.power_mw.value
    assert row.standing.origin == "measured"
    assert row.energy_j == pytest.approx(time * power / 1e6)
    assert row.sample_j == pytest.approx(row.energy_j / 16)
    assert row.samples_per_s == pytest.approx(16_000 / time)
    assert row.samples_per_j == pytest.approx(row.samples_per_s / (power / 1000))


def test_speed_up_is_against_the_reference(browser, pair):
    told = rows(browser, at="stock:MAXN", reference="resnet~orin-mini~16~measured")
    assert [each.standing.knobs for each in told][0] == MAXN
    assert told[0].speedup == 1
    assert told[1].standing.unknown == "not measured in this mode, and nothing predicts it"


def test_what_was_not_measured_is_predicted_and_labelled_so(browser, pair, other, orin, fit):
    fit(workload=other, method="linear")
    told = rows(browser)[1]
    assert (told.standing.origin, told.standing.knobs) == ("predicted", MAXN)
    page = browser.get(URL).content.decode()
    assert '<span class="tag predicted">predicted</span>' in page
    assert '"shape": ["/"' in page or '"shape": ["", "/"]' in page


def test_realtime_needs_an_input_length_and_a_rate(browser, pair, other):
    Workload.objects.filter(pk=other.pk).update(sequence_length=32_000)
    told = rows(browser, at="fastest", rate_hz=16_000)
    assert told[0].realtime is None
    assert told[1].realtime == pytest.approx(told[1].samples_per_s * 2)
    assert rows(browser, at="fastest")[1].realtime is None


def test_two_are_compared_over_the_modes_they_share(browser, pair):
    seen = browser.get(URL).context["seen"]
    assert (seen.ratio.modes, seen.ratio.median) == (18, pytest.approx(3))
    assert {row["ratio"] for row in table(browser, "pair", value="power_mw")} == {"1.0"}


def test_boards_with_other_clocks_share_no_mode(browser, pair, resnet, orin):
    entry = next(each for each in device_model_entries() if each["slug"] == "orin-nano-8gb")
    nano = device_model_seed(entry=entry)
    mode = dict(zip(KNOBS, (6, 1_510_400, 624_750, 2_133_000), strict=True))
    about = {"workload": resnet, "device_model": nano, "minibatch": 16}
    Run.objects.create(**about, **mode, time_ms=9, power_mw=9000)
    asked = {"first": "resnet~orin-mini~16~measured", "second": f"resnet~{nano.slug}~16~measured"}
    assert "They share no measured mode" in browser.get(URL, asked).content.decode()


def test_time_grows_with_the_minibatch_along_a_line(browser, resnet, orin):
    for size in (8, 16, 32):
        measured(resnet, orin, size / 16, size, rows=slice(0, 2))
    page = browser.get(URL)
    assert "by minibatch" in page.content.decode()
    assert "R² = 1.0000" in page.content.decode()
    assert [row["x"] for row in table(browser, "scaling")] == ["8.0", "16.0", "32.0"]


def test_time_grows_with_the_input_length_of_equal_workloads(browser, pair, resnet, other):
    Workload.objects.filter(pk=resnet.pk).update(sequence_length=100)
    Workload.objects.filter(pk=other.pk).update(sequence_length=300)
    page = browser.get(URL).content.decode()
    assert "by input length" in page
    assert "Two points always lie on a line" in page


def test_text_of_the_source_is_no_formula_in_the_file(browser, pair):
    assert {row["framework"] for row in table(browser, "metrics")} == {"", "'=Flash"}


def test_emulated_and_measured_runs_are_two_subjects(browser, resnet, orin):
    measured(resnet, orin, rows=slice(0, 3))
    measured(resnet, orin, rows=slice(0, 3), emulated=True)
    assert {row.standing.origin for row in rows(browser, at="fastest")} == {"measured", "emulated"}


@pytest.mark.parametrize("asked", [{"at": "stock:NONE"}, {"rate_hz": "-1"}, {"value": "spam"}])
def test_what_makes_no_sense_is_said(browser, pair, asked):
    page = browser.get(URL, asked)
    assert page.status_code == 200
    assert 'class="errors"' in page.content.decode()
    assert browser.get(f"{URL}metrics.csv", asked).status_code == 400


def test_subjects_that_are_gone_are_left_out(browser, pair):
    asked = {"of": ["gone~orin-mini~16~measured", "other~orin-mini~16~measured"], "reference": "gone"}
    assert [row.subject.group.workload.slug for row in rows(browser, **asked)] == ["other"]


def test_a_workload_leads_to_its_own_comparison(browser, pair):
    assert 'href="/compare/?workload=other"' in browser.get("/workloads/other/").content.decode()
    assert [row.subject.group.workload.slug for row in rows(browser, workload="other")] == ["other"]
    two = {row.subject.group.workload.slug for row in rows(browser, workload=["other", "resnet"])}
    assert two == {"other", "resnet"}


def test_a_plot_that_is_not_there_is_not_found(browser, pair):
    assert browser.get(f"{URL}pie.csv").status_code == 404


def test_the_page_costs_the_same_queries_however_many_runs(browser, pair, django_assert_max_num_queries):
    with django_assert_max_num_queries(26):
        browser.get(URL)


@pytest.fixture
def two_boards(resnet, orin, board):
    slow = Device.objects.create(slug="desk-2", name="Desk 2", device_model=orin)
    measured(resnet, orin, device=board)
    measured(resnet, orin, 1.04, rows=slice(0, 6), device=slow)


def test_two_boards_that_measured_the_same_are_compared_mode_by_mode(browser, two_boards, board):
    of = [f"resnet~orin-mini~16~measured~{slug}" for slug in (board.slug, "desk-2")]
    answer = browser.get(URL, {"of": of})
    ratio = answer.context["seen"].ratio
    assert (ratio.modes, ratio.median) == (6, pytest.approx(1.04))
    page = answer.content.decode()
    assert "Desk 2, Orin Mini" in page
    assert "Nothing is known of" not in page
    assert {row["subject"] for row in table(browser, "metrics", of=of)} == set(of)


def test_a_single_board_is_no_subject_of_its_own(browser, resnet, orin, board):
    measured(resnet, orin, device=board)
    assert [subject.group.board for subject in browser.get(URL).context["seen"].every] == [None]
