import numpy as np
import pytest

from modeling.answers import PlanQuestion
from modeling.models import PredictionSet
from modeling.services.drift import drift_check
from modeling.services.plans import plan_make, plan_save
from modeling.services.verification import plan_verify
from profiling.errors import Conflict, InvalidInput
from profiling.models import Device, Run
from profiling.services.sweeps import sweep_settle
from tests.modeling.conftest import truth
from tests.modeling.test_api_predictors import token_of


@pytest.fixture
def plan(ready, resnet, orin, eng):
    """For 20 W, with a mode that is not measured yet."""
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=20_000))
    assert not answer.mode.measured
    return plan_save(answer=answer, user=eng)


def deliver(sweep, slower=1.0, hungrier=1.0):
    """The board measures what waits, and the sweep settles."""
    for run in sweep.runs.filter(state=Run.State.PENDING):
        time_ms, power_mw = truth(np.array([run.knobs]))
        known = {"time_ms": time_ms[0] * slower, "power_mw": power_mw[0] * hungrier}
        Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETE, emulated=False, **known)
    sweep_settle(sweep_id=sweep.pk)
    sweep.refresh_from_db()


def test_the_planned_mode_alone_is_measured(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    assert [run.knobs for run in sweep.runs.all()] == [plan.power_mode.knobs]


def test_a_plan_that_keeps_its_budget_is_verified_by_its_run(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    deliver(sweep)
    plan.refresh_from_db()
    assert sweep.state == "done"
    assert plan.verification == sweep.runs.get()
    assert [each["kept"] for each in plan.answer["verified"]] == [True]


def test_one_that_breaks_it_is_picked_again_at_most_three_times(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    tried = []
    while sweep.state == "pending":
        tried += [run.knobs for run in sweep.runs.filter(state=Run.State.PENDING)]
        deliver(sweep, hungrier=1.5)
    plan.refresh_from_db()
    assert 2 <= len(tried) <= 3
    assert len(set(tried)) == len(tried)
    assert not any(each["kept"] for each in plan.answer["verified"])
    assert plan.power_mode is None or plan.power_mode.knobs not in tried


def test_a_measured_mode_that_fits_ends_the_search(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    deliver(sweep, hungrier=1.5)
    if sweep.state == "pending":
        deliver(sweep)
    plan.refresh_from_db()
    assert sweep.state == "done"
    assert plan.answer["verified"][-1]["kept"] or plan.answer["mode"]["measured"]


def test_settling_again_judges_nothing_twice(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    deliver(sweep)
    sweep_settle(sweep_id=sweep.pk)
    plan.refresh_from_db()
    assert len(plan.answer["verified"]) == 1


def test_a_run_that_fails_verifies_nothing(plan, board):
    sweep = plan_verify(plan=plan, device=board)
    sweep.runs.update(state=Run.State.FAILED)
    sweep_settle(sweep_id=sweep.pk)
    plan.refresh_from_db()
    assert plan.verification is None
    assert "verified" not in plan.answer


def test_it_is_not_verified_twice_at_once(plan, board):
    plan_verify(plan=plan, device=board)
    with pytest.raises(Conflict, match="already"):
        plan_verify(plan=plan, device=board)


def test_another_kind_of_board_cannot_verify_it(plan, xavier):
    other = Device.objects.create(slug="x", name="X", device_model=xavier)
    with pytest.raises(InvalidInput, match="X is a Xavier Mini, not a Orin Mini"):
        plan_verify(plan=plan, device=other)


def test_a_plan_without_a_mode_has_nothing_to_verify(ready, resnet, orin, board):
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=5000))
    with pytest.raises(Conflict, match="none to verify"):
        plan_verify(plan=plan_save(answer=answer), device=board)


def test_drift_is_judged_by_three_modes_measured_before(ready, board):
    sweep = drift_check(predictor=ready, device=board)
    assert sweep.runs.count() == 3
    deliver(sweep, slower=1.02)
    ready.refresh_from_db()
    drift = ready.card["drift"]
    assert drift["holds"]
    assert drift["time_pct"] == pytest.approx(2)
    assert drift["power_pct"] == pytest.approx(0, abs=1e-9)


def test_a_predictor_that_no_longer_holds_is_stale_with_the_figures(ready, board):
    deliver(drift_check(predictor=ready, device=board), slower=1.4)
    ready.refresh_from_db()
    assert not ready.card["drift"]["holds"]
    found = PredictionSet.objects.get(predictor=ready)
    assert found.stale
    assert found.stale_reason == "Drift: time +40.0 %, power +0.0 % on sentinel modes."


def test_both_are_asked_for_over_rest_by_engineers(api, vera, plan, ready, board):
    reply = api.post(f"/api/v1/plans/{plan.pk}/verify/", {"device": "desk-1"})
    assert (reply.status_code, reply.data["runs_total"]) == (202, 1)
    reply = api.post(f"/api/v1/predictors/{ready.pk}/check-drift/", {"device": "desk-1"})
    assert (reply.status_code, reply.data["runs_total"]) == (202, 3)
    viewer = token_of(vera, "read", "plan")
    assert viewer.post(f"/api/v1/plans/{plan.pk}/verify/", {"device": "desk-1"}).status_code == 403


def test_a_verified_plan_shows_how_it_did(api, plan, board):
    deliver(plan_verify(plan=plan, device=board))
    (verdict,) = api.get(f"/api/v1/plans/{plan.pk}/").data["answer"]["verified"]
    assert verdict["kept"]
    assert verdict["power_mw"] <= 20_000


def test_drift_of_a_single_measured_mode_is_judged_by_it(resnet, orin, board, measure, fit):
    measure(resnet, [35])
    assert drift_check(predictor=fit(), device=board).runs.count() == 1


def test_what_was_never_measured_has_no_drift(ready, board):
    Run.objects.all().delete()
    with pytest.raises(Conflict, match="could measure again"):
        drift_check(predictor=ready, device=board)
