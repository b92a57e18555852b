import numpy as np
import pytest

from modeling.answers import PlanQuestion
from modeling.models import Plan, Predictor
from modeling.services.plans import plan_make, plan_save
from modeling.services.verification import plan_verify
from modeling.tasks import pick_again
from profiling.errors import Conflict, InvalidInput
from profiling.models import Device, Run
from profiling.services.sweeps import sweep_settle
from tests.modeling.conftest import truth
from tests.tokens import program_with, token_of


@pytest.fixture
def board(orin):
    """A real one: the plan rests on real measurements."""
    return Device.objects.create(slug="desk-1", name="Desk 1", device_model=orin)


@pytest.fixture
def plan(ready, resnet, orin, eng):
    """For 20 W, with a mode that is not measured yet."""
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=20_000))
    assert not answer.mode.measured
    return plan_save(answer=answer, user=eng)


def deliver(sweep, slower=1.0, hungrier=1.0):
    """The board measures what waits, the sweep settles, and the worker does its part."""
    for run in sweep.runs.filter(state=Run.State.PENDING):
        time_ms, power_mw = truth(np.array([run.knobs]))
        known = {"time_ms": time_ms[0] * slower, "power_mw": power_mw[0] * hungrier}
        Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETE, **known)
    sweep_settle(sweep_id=sweep.pk)
    pick_again(sweep.pk)
    sweep.refresh_from_db()


def verified(plan, board, **how):
    """Verified to the end, every pick measured."""
    sweep = plan_verify(plan=plan, device=board)
    while sweep.state == "pending":
        deliver(sweep, **how)
    plan.refresh_from_db()
    return sweep


def test_the_planned_mode_alone_is_measured_first(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    assert [run.knobs for run in sweep.runs.all()] == [plan.power_mode.knobs]


def test_what_was_predicted_stands_beside_what_was_measured(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    Run.objects.filter(sweep=sweep).update(state=Run.State.COMPLETE, time_ms=70.0, power_mw=19_000.0)
    sweep_settle(sweep_id=sweep.pk)
    plan.refresh_from_db()
    (verdict,) = plan.answer["verified"]
    assert (verdict["time_ms"], verdict["kept"]) == (70.0, True)
    assert verdict["predicted_time_ms"] == plan.answer["mode"]["time_ms"]
    assert plan.verification == sweep.runs.get()


def test_it_ends_with_the_best_measured_mode_that_keeps_the_budget(plan, board):
    sweep = verified(plan, board)
    measured = [*Run.objects.filter(state=Run.State.COMPLETE, power_mw__lte=20_000)]
    best = min(measured, key=lambda run: run.time_ms)
    assert sweep.state == "done"
    assert (plan.verification, plan.power_mode.knobs) == (best, best.knobs)
    assert plan.answer["outcome"]["kept"]
    assert sweep.message == plan.answer["outcome"]["said"]


def test_it_picks_other_modes_at_most_three_times(plan, board):
    sweep = verified(plan, board, hungrier=1.5)
    tried = [run.knobs for run in sweep.runs.all()]
    assert 2 <= len(tried) <= 3
    assert len(set(tried)) == len(tried) == len(plan.answer["verified"])


def test_later_picks_have_learned(plan, board):
    """Where the board draws half as much again as predicted, the next pick is a leaner one."""
    verified(plan, board, hungrier=1.5)
    first, second = plan.answer["verified"][:2]
    assert not first["kept"]
    assert second["predicted_power_mw"]["value"] > truth(np.array([list(second["knobs"].values())]))[1]


def test_when_nothing_measured_keeps_the_budget_that_is_said(plan, board):
    Run.objects.update(power_mw=90_000)
    verified(plan, board, hungrier=9)
    assert plan.power_mode is None
    assert not plan.answer["outcome"]["kept"]
    assert "no measured mode keeps the budget" in plan.answer["outcome"]["said"]


def test_its_end_asks_for_a_predictor_that_learned_from_it(plan, board, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        verified(plan, board)
    assert Predictor.objects.filter(state=Predictor.State.PENDING).get().method == "gp"


def test_a_doubled_message_picks_once(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    deliver(sweep, hungrier=1.5)
    count = sweep.runs.count()
    pick_again(sweep.pk)
    assert sweep.runs.count() == count


def test_a_run_that_fails_verifies_nothing(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    sweep.runs.update(state=Run.State.FAILED)
    sweep_settle(sweep_id=sweep.pk)
    pick_again(sweep.pk)
    sweep.refresh_from_db()
    plan.refresh_from_db()
    assert (sweep.state, sweep.message) == ("failed", "The planned mode could not be measured.")
    assert (plan.verification, plan.answer["verified"]) == (None, [])


def test_it_is_not_verified_twice_at_once(plan, board):
    plan_verify(plan=plan, device=board)
    with pytest.raises(Conflict, match="already"):
        plan_verify(plan=plan, device=board)


def test_another_kind_of_board_cannot_verify_it(plan, xavier):
    other = Device.objects.create(slug="x", name="X", device_model=xavier)
    with pytest.raises(InvalidInput, match="X is a Xavier Mini, not a Orin Mini"):
        plan_verify(plan=plan, device=other)


def test_an_emulated_board_cannot_verify_a_real_plan(plan, emulator):
    with pytest.raises(Conflict, match="Take a real board"):
        plan_verify(plan=plan, device=emulator)


def test_nor_a_real_board_an_emulated_plan(plan, board):
    Plan.objects.update(answer={**plan.answer, "provenance": {"emulated": True}})
    with pytest.raises(Conflict, match="Measure a few modes on it"):
        plan_verify(plan=Plan.objects.get(), device=board)


def test_a_plan_without_a_mode_has_nothing_to_verify(ready, resnet, orin, board):
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=5000))
    with pytest.raises(Conflict, match="none to verify"):
        plan_verify(plan=plan_save(answer=answer), device=board)


def test_it_is_asked_for_over_rest_by_engineers(api, vera, plan, board):
    reply = api.post(f"/api/v1/plans/{plan.pk}/verify/", {"device": "desk-1"})
    assert (reply.status_code, reply.data["runs_total"]) == (202, 1)
    viewer = program_with(token_of(vera, "read", "plan"))
    assert viewer.post(f"/api/v1/plans/{plan.pk}/verify/", {"device": "desk-1"}).status_code == 403


def test_a_verified_plan_shows_how_it_did(api, plan, board):
    verified(plan, board)
    answer = api.get(f"/api/v1/plans/{plan.pk}/").data["answer"]
    assert answer["verified"][0]["power_mw"] <= 20_000
    assert answer["outcome"]["kept"]
