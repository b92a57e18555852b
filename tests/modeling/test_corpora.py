"""What is learned from references alone: kept, stored, and learned anew when their measurements change."""

import numpy as np
import pytest

from modeling import corpora
from modeling.core.artefact import ArtefactError, load_parts
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.roofline.corpus import CorpusFit
from modeling.corpora import corpora_refresh, prepared
from modeling.models import StoredCorpus
from modeling.selectors import references
from modeling.selectors.references import source
from profiling.models import Run
from profiling.signals import runs_changed


@pytest.fixture(autouse=True)
def thirty_modes_will_do(monkeypatch):
    monkeypatch.setattr(references, "REFERENCE_MODES", 30)
    corpora._kept.clear()


@pytest.fixture
def fits(monkeypatch):
    """The names of the references of each corpus that was to be learned from; it learns nothing."""
    done = []

    def counted(corpus, seed=0):
        done.append([each.name for each in corpus])
        return CorpusFit()

    monkeypatch.setattr(RooflinePredictor, "prepare", counted)
    return done


def learn(yolo, orin):
    return prepared(RooflinePredictor, [source(yolo, orin)], orin, 0)


def test_another_worker_finds_what_one_learned(yolo, orin, measure, monkeypatch):
    measure(yolo, range(36))
    first = learn(yolo, orin)
    assert learn(yolo, orin) is first
    monkeypatch.delattr(RooflinePredictor, "prepare")
    corpora._kept.clear()  # as in another process
    again = learn(yolo, orin)
    np.testing.assert_array_equal(again.references[0].theta, first.references[0].theta)


def test_a_changed_measurement_is_learned_anew(yolo, orin, measure, fits):
    runs = measure(yolo, range(36))
    learn(yolo, orin)
    Run.objects.filter(pk=runs[0].pk).update(time_ms=999)
    learn(yolo, orin)
    assert len(fits) == 2


def test_another_version_of_the_method_learns_anew(yolo, orin, measure, fits, monkeypatch):
    measure(yolo, range(36))
    learn(yolo, orin)
    monkeypatch.setattr(corpora, "_code", lambda: "newer")
    learn(yolo, orin)
    assert len(fits) == 2


def test_damaged_tensors_are_learned_anew(yolo, orin, measure, fits):
    measure(yolo, range(36))
    learn(yolo, orin)
    StoredCorpus.objects.update(tensors=b"damaged")
    corpora._kept.clear()
    learn(yolo, orin)
    assert len(fits) == 2
    assert load_parts(CorpusFit, bytes(StoredCorpus.objects.get().tensors)).references == ()


def test_the_task_learns_ahead_of_the_next_fit(resnet, yolo, orin, measure, fit, fits):
    measure(yolo, range(36))
    assert corpora_refresh(device_model_id=orin.pk) == 1
    measure(resnet, range(0, 36, 4))
    assert fit(method="roofline").state == "ready"
    assert fits == [["yolo"]]


def test_emulated_and_measured_workloads_are_learned_apart(resnet, yolo, orin, measure, fits):
    measure(yolo, range(36))
    measure(resnet, range(36), emulated=True)
    assert corpora_refresh(device_model_id=orin.pk) == 2
    assert sorted(fits) == [["resnet"], ["yolo"]]


def test_data_that_come_in_wake_the_task_once_they_are_all_there(
    yolo, orin, measure, sent, django_capture_on_commit_callbacks
):
    runs = measure(yolo, range(36))
    Run.objects.filter(pk=runs[0].pk).update(state=Run.State.PENDING)
    for expected in ([], [orin.pk]):
        with django_capture_on_commit_callbacks(execute=True):
            runs_changed.send(Run, workload_id=yolo.pk, device_model_id=orin.pk)
        assert sent == expected
        Run.objects.update(state=Run.State.COMPLETE)


def test_only_the_newest_are_stored(yolo, orin, measure, fits, monkeypatch):
    measure(yolo, range(36))
    monkeypatch.setattr(corpora, "STORED_EACH", 2)
    for seed in range(3):
        prepared(RooflinePredictor, [source(yolo, orin)], orin, seed)
    assert StoredCorpus.objects.count() == 2


def test_bytes_of_something_else_are_refused():
    with pytest.raises(ArtefactError, match="not a stored CorpusFit"):
        load_parts(CorpusFit, b"\x00" * 100)
