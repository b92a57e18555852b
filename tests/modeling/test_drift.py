import numpy as np
import pytest

from modeling.models import PredictionSet, Predictor
from modeling.services.drift import drift_check
from profiling.errors import Conflict
from profiling.models import Device, Run, Sweep
from profiling.services.agents import device_enrol
from profiling.services.sweeps import sweep_settle
from tests.modeling.conftest import truth


def deliver(sweep, slower=1.0):
    """The board measures what waits, by the formula, and the sweep settles."""
    for run in sweep.runs.filter(state=Run.State.PENDING):
        time_ms, power_mw = truth(np.array([run.knobs]))
        known = {"time_ms": time_ms[0] * slower, "power_mw": power_mw[0]}
        Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETE, **known)
    sweep_settle(sweep_id=sweep.pk)


def test_drift_is_asked_for_over_rest(api, ready, board):
    reply = api.post(f"/api/v1/predictors/{ready.pk}/check-drift/", {"device": "desk-1"})
    assert (reply.status_code, reply.data["runs_total"]) == (202, 3)


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


def test_drift_of_a_single_measured_mode_is_judged_by_it(resnet, orin, board, measure, fit):
    measure(resnet, [35])
    assert drift_check(predictor=fit(), device=board).runs.count() == 1


def test_what_was_never_measured_has_no_drift(ready, board):
    Run.objects.all().delete()
    with pytest.raises(Conflict, match="could measure again"):
        drift_check(predictor=ready, device=board)


def test_each_sentinel_is_held_against_its_prediction_too(ready, board):
    deliver(drift_check(predictor=ready, device=board), slower=1.4)
    ready.refresh_from_db()
    changes = ready.card["drift"]["changes"]
    assert [each["time_z"] > 3 for each in changes] == [True] * 3
    assert all(abs(each["power_z"]) < 3 for each in changes)


def test_one_that_holds_is_fitted_again_with_what_was_measured(ready, board):
    deliver(drift_check(predictor=ready, device=board))
    again = Predictor.objects.get(state=Predictor.State.PENDING)
    assert (again.method, again.workload) == (ready.method, ready.workload)


def test_the_check_settles_the_change_of_software(ready, board):
    device_enrol(device=board, agent="a", description={"software": {"l4t": "35.4"}})
    board.refresh_from_db()
    device_enrol(device=board, agent="a", description={"software": {"l4t": "36.3"}})
    board.refresh_from_db()
    assert board.former_software == {"l4t": "35.4"}
    deliver(drift_check(predictor=ready, device=board))
    board.refresh_from_db()
    assert board.former_software is None


def test_the_pages_tell_of_it(browser, ready, board):
    Run.objects.update(emulated=True)
    Predictor.objects.update(emulated=True)
    Device.objects.update(software={"l4t": "36.3"}, former_software={"l4t": "35.4"})
    assert "l4t 35.4 → 36.3" in browser.get(f"/devices/{board.slug}/").content.decode()
    answer = browser.post(f"/predictors/{ready.pk}/drift/", {"board": board.slug})
    sweep = Sweep.objects.get()
    assert answer.url == f"/sweeps/{sweep.pk}/"
    deliver(sweep)
    assert "It holds." in browser.get(f"/predictors/{ready.pk}/").content.decode()
