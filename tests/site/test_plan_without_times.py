"""The pages of a workload of which nothing is measured: power is told, times are withheld with the reason."""

import pytest
from django.urls import reverse

from modeling.models import Predictor
from modeling.services.plans import plan_make, plan_save

PAIR = {"workload": "resnet", "device_model": "orin-mini"}


@pytest.fixture
def guessed(resnet, fit) -> Predictor:
    return fit(method="roofline")


def test_the_planner_gives_power_and_says_why_there_is_no_time(browser, guessed):
    page = browser.get(reverse("plan"), PAIR | {"power_w": 25}).content.decode()
    assert "so no time is known yet" in page
    assert "Measure five modes" in page
    assert 'id="plan-marks"' not in page
    assert "plan-parallel" not in page
    assert "The plot needs one measured mode" in page


@pytest.mark.parametrize("section", ["plan-columns", "plan-map", "plan-knobs", "plan-parallel", "plan-modes"])
def test_what_draws_times_is_refused(browser, guessed, section):
    refused = browser.get(reverse(section), PAIR)
    assert refused.status_code == 409
    assert "no time is known" in refused.content.decode()


@pytest.mark.parametrize("section", ["plan-best", "plan-budgets", "plan-what-if", "plan-board"])
def test_what_needs_no_time_is_told(browser, guessed, section):
    assert browser.get(reverse(section), PAIR | {"epochs": 3, "battery_wh": 90}).status_code == 200


def test_a_kept_plan_shows_the_same(browser, guessed, resnet, orin, eng):
    plan = plan_save(answer=plan_make(workload=resnet, device_model=orin), user=eng)
    assert "so no time is known yet" in browser.get(reverse("plan-detail", args=[plan.pk])).content.decode()
    assert browser.get(reverse("plan-list")).status_code == 200


def test_the_predictors_page_warns(browser, guessed):
    page = browser.get(reverse("predictor-detail", args=[guessed.pk])).content.decode()
    assert "how long a minibatch takes is not known" in page
