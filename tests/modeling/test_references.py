import pytest

from modeling.selectors import references
from modeling.selectors.references import default_references, named_references, source
from modeling.services import predictors
from modeling.services.predictors import predictor_request
from profiling.errors import Conflict, InvalidInput
from profiling.models import Workload
from tests.modeling.conftest import FEW


@pytest.fixture(autouse=True)
def thirty_modes_will_do(monkeypatch):
    """The standing board has 36 modes, fewer than the hundred a real reference needs."""
    monkeypatch.setattr(references, "REFERENCE_MODES", 30)


@pytest.fixture
def found(resnet, orin):
    def names():
        chosen = default_references(target=source(resnet, orin))
        return [(each.workload.slug, each.device_model.slug) for each in chosen]

    return names


def test_well_measured_workloads_of_the_board_teach(resnet, yolo, measure, found):
    measure(resnet, range(36))
    measure(yolo, range(36))
    assert found() == [("yolo", "orin-mini")]


def test_a_few_modes_teach_nothing(yolo, measure, found):
    measure(yolo, FEW)
    assert found() == []


def test_repeats_of_a_few_modes_teach_nothing(yolo, measure, found):
    for _ in range(5):
        measure(yolo, FEW)
    assert found() == []


def test_another_board_teaches_when_nothing_else_does(yolo, xavier, measure, found, monkeypatch):
    monkeypatch.setattr(references, "REFERENCE_MODES", 16)
    measure(yolo, range(16), board=xavier)
    assert found() == [("yolo", "xavier-mini")]
    measure(yolo, range(36))
    assert found() == [("yolo", "orin-mini")]


def test_inference_teaches_no_training(measure, found):
    server = Workload.objects.create(slug="i", name="I", kind="inference", network="I", minibatch=16)
    measure(server, range(36))
    assert found() == []


def test_emulated_measurements_teach_no_measured_workload(resnet, yolo, measure, found):
    measure(resnet, FEW)
    measure(yolo, range(36), emulated=True)
    assert found() == []


def test_references_are_kept_with_the_predictor(resnet, yolo, orin, measure, fit):
    measure(yolo, range(36))
    measure(resnet, FEW)
    predictor = fit()
    assert list(predictor.references.all()) == [yolo]
    card = predictor.card["references"][0]
    assert (card["workload"], card["device_model"], card["rows"]) == ("yolo", "orin-mini", 36)


def test_a_person_may_choose_none(resnet, yolo, orin, measure):
    measure(yolo, range(36))
    measure(resnet, FEW)
    predictor = predictor_request(workload=resnet, device_model=orin, references=[])
    assert not predictor.references.exists()


def test_every_unusable_reference_is_named(resnet, yolo, orin, measure):
    measure(resnet, FEW)
    with pytest.raises(InvalidInput) as caught:
        named_references(workloads=[resnet, yolo], target=source(resnet, orin))
    assert caught.value.extra["errors"] == [
        "ResNet-18 / ImageNet cannot be a reference for itself",
        "YOLO v8 has no usable measurements",
    ]


def test_a_method_that_transfers_says_that_it_needs_a_reference(resnet, orin, measure, monkeypatch):
    monkeypatch.setattr(predictors, "NEED_REFERENCE", {"nearest"})
    measure(resnet, FEW)
    with pytest.raises(Conflict, match="transfers from a reference"):
        predictor_request(workload=resnet, device_model=orin, method="nearest")


def test_another_boards_reference_is_told_on_the_card(resnet, orin, yolo, xavier, measure, fit, monkeypatch):
    monkeypatch.setattr(references, "REFERENCE_MODES", 16)
    measure(yolo, range(16), board=xavier)
    measure(resnet, FEW)
    card = fit(method="roofline").card
    assert [each["device_model"] for each in card["references"]] == ["xavier-mini"]
    assert any("another device model" in note for note in card["notes"])
