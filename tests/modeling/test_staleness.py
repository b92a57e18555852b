from modeling.models import Plan, PredictionSet, Predictor
from modeling.services.predictors import predictor_request
from modeling.training import predictor_fit
from profiling.models import Run
from profiling.signals import runs_changed
from tests.modeling.conftest import FEW


def tell(workload, board):
    runs_changed.send(Run, workload_id=workload.pk, device_model_id=board.pk)


def state(predictor):
    found = PredictionSet.objects.get(predictor=predictor)
    return found.stale, found.stale_reason


def test_new_measurements_make_it_stale(ready, resnet, orin, measure):
    measure(resnet, [7])
    tell(resnet, orin)
    assert state(ready) == (True, "Its measurements changed since the fit.")


def test_a_signal_without_a_change_leaves_it_fresh(ready, resnet, orin):
    tell(resnet, orin)
    assert state(ready) == (False, "")


def test_taking_the_measurements_back_makes_it_fresh_again(ready, resnet, orin, measure):
    new = measure(resnet, [7])
    tell(resnet, orin)
    Run.objects.filter(pk__in=[run.pk for run in new]).delete()
    tell(resnet, orin)
    assert state(ready) == (False, "")


def test_another_boards_measurements_do_not_matter(ready, resnet, xavier, measure):
    measure(resnet, [0], board=xavier)
    tell(resnet, xavier)
    assert state(ready) == (False, "")


def test_a_changed_reference_makes_it_stale_too(resnet, yolo, orin, measure):
    measure(yolo, range(36))
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin, method="gp", references=[yolo])
    predictor_fit(predictor_id=predictor.pk)
    measure(yolo, range(36), slower=1.2)
    tell(yolo, orin)
    assert state(predictor) == (True, "Measurements of the reference YOLO v8 changed since the fit.")
    tell(resnet, orin)
    assert state(predictor)[0]


def test_data_that_came_in_during_the_fit_is_noticed(resnet, orin, measure, monkeypatch):
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin, method="nearest")
    from modeling import training

    def meanwhile(*args):
        measure(resnet, [7])
        tell(resnet, orin)

    monkeypatch.setattr(training, "cross_validate", meanwhile)
    predictor_fit(predictor_id=predictor.pk)
    assert state(predictor) == (True, "Its measurements changed since the fit.")


def test_a_new_fit_replaces_the_old_predictions(ready, fit):
    newer = fit()
    assert list(PredictionSet.objects.values_list("predictor", flat=True)) == [newer.pk]
    assert Predictor.objects.get(pk=ready.pk).artefact


def test_predictions_that_a_plan_refers_to_stay(ready, fit, resnet, orin):
    Plan.objects.create(prediction_set=ready.prediction_set, workload=resnet, device_model=orin, question={})
    fit()
    assert PredictionSet.objects.count() == 2
