import pytest
from django.urls import reverse

from modeling.models import Plan
from profiling.models import Run, Sweep
from profiling.services.sweeps import sweep_settle
from tests.modeling.conftest import FEW, fit, measure, sent  # noqa: F401  (fixtures)


@pytest.fixture
def question(resnet, orin, measure, fit) -> dict:  # noqa: F811
    measure(resnet, FEW, emulated=True)
    fit()
    return {"workload": resnet.slug, "device_model": orin.slug, "power_w": "20"}


@pytest.fixture
def plan(browser, question, board) -> Plan:
    browser.post(reverse("plan-verify-asked"), {**question, "board": board.slug})
    return Plan.objects.get()


def page_of(browser, plan):
    return browser.get(reverse("plan-detail", args=[plan.pk])).content.decode()


def measured(plan, time_ms=70.0, power_mw=19_000.0):
    sweep = Sweep.objects.get(strategy="verify")
    waiting = sweep.runs.filter(state=Run.State.PENDING)
    waiting.update(state=Run.State.COMPLETE, time_ms=time_ms, power_mw=power_mw)
    sweep_settle(sweep_id=sweep.pk)


def test_the_planner_offers_boards_of_its_kind(browser, question, board):
    page = browser.get("/plan/", question).content.decode()
    assert f"Verify on {board}" in page
    assert "jetsonlab-agent apply --cores" in page


def test_a_retired_board_is_not_offered(browser, question, board):
    board.retired = True
    board.save()
    assert "No board of this kind is in service" in browser.get("/plan/", question).content.decode()


def test_verifying_keeps_the_plan_and_asks_the_board(plan, board, eng):
    sweep = Sweep.objects.get()
    assert (sweep.strategy, sweep.options["plan"], sweep.requested_by) == ("verify", plan.pk, eng)
    assert plan.device == board


def test_a_plan_that_cannot_be_verified_is_not_kept(browser, question, board):
    answer = browser.post(reverse("plan-verify-asked"), {**question, "power_w": "1", "board": board.slug})
    assert answer.status_code == 409
    assert not Plan.objects.exists()


def test_the_page_waits_for_the_board_and_is_renewed(browser, plan):
    page = page_of(browser, plan)
    assert "Waiting for the board" in page
    assert 'hx-trigger="every 2s"' in page


def test_predicted_and_measured_stand_side_by_side(browser, plan):
    measured(plan)
    part = browser.get(reverse("plan-verification", args=[plan.pk])).content.decode()
    predicted = plan.answer["mode"]["power_mw"]["value"]
    assert f"{predicted / 1000:.1f}" in part
    assert "<strong>19.0</strong>" in part
    assert "kept" in part


def test_a_value_outside_its_interval_is_marked(browser, plan):
    measured(plan, time_ms=7000.0)
    assert 'title="outside the 90 % interval"' in page_of(browser, plan)


def test_viewers_see_but_do_not_verify(client, vera, plan, board):
    client.force_login(vera)
    assert "Verify on" not in page_of(client, plan)
    address = reverse("plan-verify", args=[plan.pk])
    assert client.post(address, {"board": board.slug}).status_code == 403


def test_a_second_verification_waits_for_the_first(browser, plan, board):
    answer = browser.post(reverse("plan-verify", args=[plan.pk]), {"board": board.slug})
    assert answer.status_code == 409
    assert "being verified already" in answer.content.decode()
