"""Which runs fitting takes: told on pages as measured_table does it."""

import pytest

from profiling.models import Run
from profiling.selectors.fitting import EXCLUDING, RULE, fitting
from profiling.selectors.runs import EXCLUDING_FLAGS, measured_table

KNOBS = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600, "minibatch": 16}
GOOD = {**KNOBS, "time_ms": 10.0, "power_mw": 9_000.0}


@pytest.fixture
def add(resnet, orin):
    def add(**changes):
        return Run.objects.create(workload=resnet, device_model=orin, **{**GOOD, **changes})

    return add


@pytest.fixture
def told(resnet, orin):
    def told():
        found = fitting(workload=resnet, device_model=orin)
        assert found.used == len(measured_table(workload=resnet, device_model=orin).run_ids)
        return found.used, found.complete, {each.why.split(",")[0]: each.runs for each in found.left}

    return told


def test_without_runs_there_is_nothing_to_take(told):
    assert told() == (0, 0, {})


def test_each_excluding_flag_is_counted_and_hot_is_none(add, told):
    add(flags=["hot"])
    for flag in EXCLUDING:
        add(flags=[flag])
    assert set(EXCLUDING) == EXCLUDING_FLAGS
    assert told() == (1, 6, dict.fromkeys(EXCLUDING, 1))


def test_a_run_with_two_flags_is_under_each(add, told):
    add(flags=["throttled", "short"])
    assert told() == (0, 1, {"throttled": 1, "short": 1})


@pytest.mark.parametrize("unknown", ["cores", "mem_khz", "time_ms", "power_mw"])
def test_what_is_not_known_keeps_a_run_out(add, told, unknown):
    add(**{unknown: None})
    assert told() == (0, 1, {"with a knob": 1})


def test_emulated_runs_count_until_there_is_a_good_measured_one(add, told):
    add(emulated=True)
    add(flags=["short"])
    assert told() == (1, 2, {"short": 1})
    add()
    assert told() == (1, 3, {"short": 1, "emulated": 1})


@pytest.mark.parametrize("state", ["pending", "failed", "superseded"])
def test_only_complete_runs_are_looked_at(add, told, state):
    add(state=state)
    assert told() == (0, 0, {})


def test_the_page_of_the_workload_says_the_rule_and_what_it_leaves_out(add, browser):
    add()
    add(flags=["throttled"])
    page = browser.get("/workloads/resnet/").content.decode()
    assert RULE in page
    assert "predictors are fitted to 1 of 2; left out: " in page
    link = "/runs/?workload=resnet&amp;device_model=orin-mini&amp;state=complete&amp;flag=throttled"
    assert f'<a href="{link}">1 throttled</a>' in page
    assert len(browser.get(link.replace("&amp;", "&")).context["browse"].items) == 1


def test_the_rule_stands_where_a_predictor_is_asked_for(browser, resnet):
    assert RULE in browser.get("/predictors/").content.decode()
