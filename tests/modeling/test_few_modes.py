"""Predictors of workloads of which nothing, or next to nothing, is measured."""

import math

import numpy as np
import pytest
from rest_framework.test import APIClient

from modeling.answers import PlanQuestion
from modeling.core.evaluation import coverage
from modeling.models import Predictor
from modeling.selectors.expected import known_times
from modeling.selectors.landscape import landscape, prediction_columns
from modeling.services.plans import plan_make, plan_sweep
from modeling.services.prediction_sets import prediction_sets_check
from modeling.services.predictors import predictor_request
from profiling.errors import Conflict
from profiling.models import Device, DeviceModel, Workload
from tests.modeling.conftest import Fit, Measure, truth


@pytest.fixture
def unmeasured(resnet: Workload, yolo: Workload, measure: Measure, fit: Fit, monkeypatch) -> Predictor:
    """Of ResNet nothing is measured; YOLO is its reference."""
    monkeypatch.setattr("modeling.selectors.references.REFERENCE_MODES", 30)
    measure(yolo, range(36))
    return fit(method="roofline")


def test_from_no_mode_power_is_predicted_widely_and_time_is_not_known(
    unmeasured: Predictor, resnet: Workload, orin: DeviceModel
) -> None:
    assert (unmeasured.state, unmeasured.failure) == ("ready", "")
    assert unmeasured.card["rows"] == 0
    assert unmeasured.card["time_level_known"] is False
    assert unmeasured.card["own_error"] is None
    land = landscape(workload=resnet, device_model=orin)
    assert land.minibatches == [resnet.minibatch]
    assert land.prediction.power_log_sd.min() >= 0.25
    assert land.prediction.time_log_sd.min() > 2


def test_a_plan_from_no_mode_withholds_times_with_the_reason(
    unmeasured: Predictor, resnet: Workload, orin: DeviceModel
) -> None:
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=25_000))
    assert (answer.mode.time_ms, answer.mode.energy_mj, answer.mode.epoch_s) == (None, None, None)
    assert "no time is known" in answer.time_reason
    assert answer.mode.power_mw.low < answer.mode.power_mw.value < answer.mode.power_mw.high
    assert answer.maxn.power_change_pct < 0 < answer.maxn.time_change_pct
    assert any("level is unknown" in note for note in answer.notes)


@pytest.mark.parametrize("limit", ["time_ms", "energy_mj", "epoch_s", "epoch_energy_j"])
def test_a_limit_on_what_nobody_knows_is_refused(
    unmeasured: Predictor, resnet: Workload, orin: DeviceModel, limit: str
) -> None:
    question = PlanQuestion(**{limit: 100.0})
    with pytest.raises(Conflict, match="no time is known"):
        plan_make(workload=resnet, device_model=orin, question=question)
    with pytest.raises(Conflict, match="no time is known"):
        plan_sweep(workload=resnet, device_model=orin, question=question, powers_mw=[20_000])


def test_no_time_gets_out_by_another_door(
    unmeasured: Predictor, resnet: Workload, orin: DeviceModel, board: Device, api: APIClient
) -> None:
    columns = prediction_columns(predictor=unmeasured)
    assert (columns["time_ms"], columns["time_log_sd"]) == (None, None)
    assert len(columns["power_mw"]) == 36
    assert known_times(board, resnet, [orin.maximum]) == [None]
    told = api.get(f"/api/v1/predictors/{unmeasured.pk}/predictions/").json()
    assert told["time_ms"] is None
    asked = {"workload": "resnet", "device_model": "orin-mini", "power_mw": 25_000, "save": True}
    kept = api.post("/api/v1/plans/", asked, format="json")
    assert kept.status_code == 201
    assert kept.json()["mode"]["time_ms"] is None
    assert api.get(f"/api/v1/plans/{kept.json()['id']}/").json()["answer"]["mode"]["time_ms"] is None


def test_once_a_mode_is_measured_the_guess_is_stale_and_still_no_time(
    unmeasured: Predictor, resnet: Workload, orin: DeviceModel, measure: Measure
) -> None:
    measure(resnet, [35])
    prediction_sets_check(workload_id=resnet.pk, device_model_id=orin.pk)
    answer = plan_make(workload=resnet, device_model=orin)
    assert answer.provenance.stale
    assert answer.mode.time_ms is None


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_modes_give_times_with_wide_intervals_and_say_so(
    resnet: Workload, orin: DeviceModel, measure: Measure, fit: Fit, count: int
) -> None:
    measure(resnet, [35, 0][:count])
    predictor = fit(method="roofline")
    assert predictor.card["time_level_known"]
    assert f"only {count} measured" in " ".join(predictor.card["notes"])
    p = landscape(workload=resnet, device_model=orin).prediction
    times, powers = truth(orin.all_modes())
    assert coverage(times, p.time_ms, p.time_log_sd) > 80
    assert coverage(powers, p.power_mw, p.power_log_sd) > 80
    assert np.median(p.time_log_sd) > math.log(1.1)


def test_emulated_references_serve_where_there_are_no_real_ones(
    resnet: Workload, yolo: Workload, orin: DeviceModel, measure: Measure, monkeypatch
) -> None:
    monkeypatch.setattr("modeling.selectors.references.REFERENCE_MODES", 30)
    measure(yolo, range(36), emulated=True)
    predictor = predictor_request(workload=resnet, device_model=orin)
    assert list(predictor.references.all()) == [yolo]


def test_other_methods_need_a_measured_mode(resnet: Workload, orin: DeviceModel) -> None:
    with pytest.raises(Conflict, match="choose roofline"):
        predictor_request(workload=resnet, device_model=orin, method="gp")
