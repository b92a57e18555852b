import numpy as np
import pytest
from django.urls import reverse

from frontend.charts import telemetry_figures
from frontend.templatetags.lab import change
from frontend.wording import in_words
from profiling.models import Run
from profiling.services.agents import telemetry_store

CHANNELS = {
    "time_s": [0.0, 1.0, 2.0],
    "power_total_mw": [10_000, 20_000, 20_000],
    "gpu_khz": [318_750, 1_300_500, 1_300_500],
    "cpu7_khz": [None, None, None],
    "load_gpu_pct": [0, 90, 91],
    "temp_gpu_c": [40, 41, 42],
}


@pytest.fixture
def run(resnet, orin, board) -> Run:
    run = Run.objects.create(
        workload=resnet,
        device_model=orin,
        device=board,
        emulated=True,
        minibatch=16,
        time_ms=118.25,
        minibatches=40,
        flags=["unstable", "hot"],
        unknowns={"power_mw": "no power sensor answered"},
        extra={"window_start_s": 0.5, "window_end_s": 2.0, "why": {"hot": "86 °C, the ceiling is 85 °C"}},
        provenance={"kernel": None, "untold": {"kernel": "no such file"}, "rules": {"minibatches": 40}},
    )
    telemetry_store(run=run, columns=CHANNELS)
    return run


@pytest.fixture
def answer(browser, run):
    return browser.get(reverse("run-detail", args=[run.pk]))


def test_every_kind_of_sensor_has_its_figure(answer):
    assert list(answer.context["figures"]) == ["Power, W", "Clocks, MHz", "Loads, %", "Temperatures, °C"]


def test_figures_are_in_peoples_units(answer):
    (line,) = answer.context["figures"]["Power, W"]["data"]
    assert (line["name"], line["y"]) == ("total", [10.0, 20.0, 20.0])


def test_the_measured_window_is_shaded(answer):
    (shade,) = answer.context["figures"]["Power, W"]["layout"]["shapes"]
    assert (shade["x0"], shade["x1"]) == (0.5, 2.0)
    assert "Shaded: the 1.5 s that were measured" in answer.content.decode()


def test_a_channel_of_which_nothing_is_known_is_left_out(answer):
    assert [line["name"] for line in answer.context["figures"]["Clocks, MHz"]["data"]] == ["gpu"]


def test_without_a_window_nothing_is_shaded():
    figures = telemetry_figures({"temp_cpu_c": (np.array([0.0]), np.array([40.0]))})
    assert figures["Temperatures, °C"]["layout"]["shapes"] == []


def test_flags_are_told_in_words(answer):
    page = answer.content.decode()
    assert "86 °C, the ceiling is 85 °C" in page
    assert "Times or power did not settle." in page
    assert "not used for fitting" in page


def test_a_flag_that_only_warns_does_not_exclude(browser, run):
    Run.objects.update(flags=["hot"])
    page = browser.get(reverse("run-detail", args=[run.pk])).content.decode()
    assert "not used for fitting" not in page


def test_unknown_fields_and_circumstances_say_why(answer):
    page = answer.content.decode()
    assert 'title="no power sensor answered"' in page
    assert 'title="no such file"' in page
    assert "minibatches 40" in page


def test_a_run_still_waiting_says_so(browser, run):
    Run.objects.update(state=Run.State.PENDING, time_ms=None)
    page = browser.get(reverse("run-detail", args=[run.pk])).content.decode()
    assert 'title="not measured yet"' in page


def test_circumstances_are_told_in_words_with_units():
    assert in_words("time_iqr_ms") == "time IQR, ms"
    assert in_words("l4t") == "L4T"
    assert in_words("ceiling_c") == "ceiling, °C"


def test_a_change_too_small_to_matter_is_not_spelt_out():
    assert [change(pct) for pct in (0, 0.007, -0.03, 4.24, -31)] == [
        "0 %",
        "< 0.05 %",
        "< 0.05 %",
        "+4.2 %",
        "−31 %",
    ]
    assert change(11_352) == "115 ×"
