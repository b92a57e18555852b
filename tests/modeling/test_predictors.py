import numpy as np
import pytest
from django.utils import timezone

from modeling.columns import unpack
from modeling.core import artefact
from modeling.core.predictors import METHODS, predictor_class
from modeling.models import PredictionSet, Predictor
from modeling.selectors.predictors import newest_ready, usual_fit_time
from modeling.services.predictors import (
    MAX_ATTEMPTS,
    NEED_REFERENCE,
    SILENCE,
    predictor_claim,
    predictor_request,
    predictor_retry,
    predictors_rescue,
)
from modeling.tasks import fit_predictor
from modeling.training import predictor_fit
from profiling.errors import Conflict, InvalidInput
from profiling.models import Run
from tests.modeling.conftest import FEW, truth


def test_a_request_waits_for_a_worker(resnet, orin, eng, measure, sent, django_capture_on_commit_callbacks):
    measure(resnet, FEW)
    with django_capture_on_commit_callbacks(execute=True):
        predictor = predictor_request(workload=resnet, device_model=orin, user=eng)
        assert sent == []
    assert sent == [predictor.pk]
    assert predictor.state == "pending"
    assert predictor.requested_by == eng


def test_the_task_makes_it_ready(resnet, orin, measure):
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin, method="gp")
    fit_predictor(predictor.pk)
    predictor.refresh_from_db()
    assert (predictor.state, predictor.failure) == ("ready", "")
    assert predictor.steps_done == predictor.steps_total
    assert predictor.prediction_set.mode_count == 36
    assert not predictor.prediction_set.stale


def test_every_mode_is_predicted_near_the_truth(ready, orin):
    prediction = unpack(bytes(ready.prediction_set.columns))
    time_ms, power_mw = truth(orin.all_modes())
    assert np.median(np.abs(prediction.time_ms / time_ms - 1)) < 0.1
    assert np.median(np.abs(prediction.power_mw / power_mw - 1)) < 0.1


def test_the_card_says_how_it_was_made(ready):
    card = ready.card
    assert card["rows"] == len(FEW)
    assert card["minibatches"] == [16]
    assert card["references"] == []
    assert card["own_error"]["rows"] == len(FEW)
    assert 0 < card["own_error"]["time_mape"] < 50
    assert set(card["versions"]) == {"python", "numpy", "scipy", "scikit-learn", "torch"}
    assert card["fit_s"] > 0
    assert ready.data_digest == card["digest"]


def test_the_artefact_predicts_the_same_again(ready, orin):
    again = artefact.load(bytes(ready.artefact)).predict(orin.all_modes())
    stored = unpack(bytes(ready.prediction_set.columns))
    assert again.time_ms == pytest.approx(stored.time_ms, rel=1e-5)


def test_a_doubled_message_does_no_harm(ready):
    before = Predictor.objects.values().get(pk=ready.pk)
    fit_predictor(ready.pk)
    assert Predictor.objects.values().get(pk=ready.pk) == before
    assert PredictionSet.objects.count() == 1


def test_only_one_worker_claims_it(resnet, orin, measure):
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin)
    assert predictor_claim(predictor_id=predictor.pk) is not None
    assert predictor_claim(predictor_id=predictor.pk) is None


def test_asking_twice_waits_once(resnet, orin, measure):
    measure(resnet, FEW)
    first = predictor_request(workload=resnet, device_model=orin)
    assert predictor_request(workload=resnet, device_model=orin) == first
    assert predictor_request(workload=resnet, device_model=orin, seed=1) != first


def test_with_nothing_measured_it_says_what_to_do(resnet, orin):
    with pytest.raises(Conflict, match="Upload measurements or run a sweep"):
        predictor_request(workload=resnet, device_model=orin, method="gp")


def test_an_unknown_method_is_refused_with_the_known_ones(resnet, orin):
    with pytest.raises(InvalidInput, match="gp"):
        predictor_request(workload=resnet, device_model=orin, method="oracle")


def test_the_methods_that_need_a_reference_are_known():
    assert {name for name in METHODS if predictor_class(name).needs_reference} == NEED_REFERENCE & set(
        METHODS
    )


def test_measurements_that_vanish_fail_the_fit_with_the_reason(resnet, orin, measure):
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin, method="nearest")
    Run.objects.all().delete()
    predictor_fit(predictor_id=predictor.pk)
    predictor.refresh_from_db()
    assert predictor.state == "failed"
    assert "are gone" in predictor.failure


def test_a_failed_one_can_be_tried_again(resnet, orin, measure):
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin, method="nearest")
    Predictor.objects.update(state="failed", failure="out of memory")
    predictor_retry(predictor=predictor)
    predictor_fit(predictor_id=predictor.pk)
    predictor.refresh_from_db()
    assert (predictor.state, predictor.failure) == ("ready", "")


def test_a_ready_one_is_not_tried_again(ready):
    with pytest.raises(Conflict, match="ready"):
        predictor_retry(predictor=ready)


def test_one_mode_is_enough_to_answer_but_not_to_check(resnet, orin, measure, fit):
    measure(resnet, [35])
    predictor = fit()
    assert predictor.state == "ready"
    assert predictor.card["own_error"] is None
    assert predictor.card["own_error_reason"] == "Fewer than three modes are measured."


def test_a_method_without_uncertainty_gets_its_own_error_as_interval(resnet, measure, fit):
    measure(resnet, FEW)
    predictor = fit(method="nearest")
    prediction = unpack(bytes(predictor.prediction_set.columns))
    assert np.ptp(prediction.time_log_sd) == 0
    assert prediction.time_log_sd[0] == pytest.approx(predictor.card["own_error"]["time_log_sd"], rel=1e-5)
    assert "cross-validation" in predictor.card["notes"][0]


def test_several_minibatch_sizes_make_a_block_each(resnet, orin, measure, fit):
    measure(resnet, FEW)
    measure(resnet, FEW, minibatch=4)
    predictor = fit()
    prediction = unpack(bytes(predictor.prediction_set.columns))
    assert predictor.prediction_set.minibatches == [4, 16]
    assert prediction.time_ms.shape == (72,)
    assert (prediction.time_ms[:36] < prediction.time_ms[36:]).all()


def test_emulated_measurements_make_an_emulated_predictor(resnet, measure, fit):
    measure(resnet, FEW, emulated=True)
    assert fit().emulated


@pytest.fixture
def abandoned(resnet, orin, measure):
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin)
    predictor_claim(predictor_id=predictor.pk)
    long_ago = timezone.now() - 2 * SILENCE
    Predictor.objects.update(heartbeat=long_ago, created=long_ago)
    return predictor


def test_a_dead_workers_fit_is_given_to_another(abandoned, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        assert predictors_rescue() == 1
    assert sent == [abandoned.pk]
    abandoned.refresh_from_db()
    assert abandoned.state == "pending"


def test_a_fit_that_kills_its_workers_is_given_up(abandoned):
    Predictor.objects.update(attempts=MAX_ATTEMPTS)
    assert predictors_rescue() == 0
    abandoned.refresh_from_db()
    assert abandoned.state == "failed"
    assert "fell silent" in abandoned.failure


def test_a_lost_message_is_sent_again(resnet, orin, measure, sent, django_capture_on_commit_callbacks):
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin)
    with django_capture_on_commit_callbacks(execute=True):
        assert predictors_rescue() == 1
    assert sent == [predictor.pk]


def test_a_late_finish_of_a_rescued_fit_changes_nothing(resnet, orin, measure, monkeypatch):
    """Its worker fell silent, but lived: another has claimed the fit meanwhile."""
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin, method="nearest")
    from modeling import training

    def meanwhile(*args):
        Predictor.objects.update(attempts=2)

    monkeypatch.setattr(training, "cross_validate", meanwhile)
    predictor_fit(predictor_id=predictor.pk)
    predictor.refresh_from_db()
    assert predictor.state == "fitting"
    assert not PredictionSet.objects.exists()


def test_of_predictors_for_the_same_the_newest_is_shown_to_plan_with(ready, fit):
    again = fit()
    assert [each.pk for each in newest_ready()] == [again.pk]


def test_how_long_fits_take_is_known_from_the_last_ones(ready):
    assert usual_fit_time(method="powertrain") is None
    assert usual_fit_time(method=ready.method) == ready.fitted - ready.created
