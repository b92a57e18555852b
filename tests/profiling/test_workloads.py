import pytest

from profiling.errors import Conflict, Forbidden, InvalidInput
from profiling.models import DeviceModel, Run, Upload, Workload
from profiling.selectors.exploring import run_groups
from profiling.selectors.runs import run_list
from profiling.selectors.workloads import workload_list, workloads_tell
from profiling.services.workloads import workload_create, workload_update

FACTS = {"kind": "training", "network": "ResNet-18", "minibatch": 16}


def test_the_slug_is_made_from_the_name(eng):
    assert workload_create(user=eng, name="  ResNet 18 / CIFAR ", **FACTS).slug == "resnet-18-cifar"


def test_names_that_look_alike_get_their_own_slug(eng):
    slugs = [workload_create(user=eng, name=name, **FACTS).slug for name in ("A b", "A-b", "A/ b", "A b c")]
    assert slugs == ["a-b", "a-b-2", "a-b-3", "a-b-c"]


@pytest.mark.parametrize("name", ["", "   ", "///", "x" * 101])
def test_a_name_that_makes_no_slug_is_refused(eng, name):
    with pytest.raises(InvalidInput) as refused:
        workload_create(user=eng, name=name, **FACTS)
    assert "name" in refused.value.extra["errors"]


def test_every_bad_field_is_named_at_once(eng):
    with pytest.raises(InvalidInput) as refused:
        workload_create(user=eng, name="a", kind="sleeping", network="", minibatch=None)
    assert set(refused.value.extra["errors"]) == {"kind", "network", "minibatch"}


def test_a_new_name_keeps_the_slug(eng, resnet):
    assert workload_update(workload=resnet, user=eng, name="Other").slug == "resnet"


@pytest.mark.parametrize("change", [{"minibatch": 32}, {"kind": "inference"}, {"network": "x"}])
def test_what_was_measured_stays_what_it_was(eng, resnet, orin, change):
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16)
    with pytest.raises(Conflict, match="Make a new workload"):
        workload_update(workload=resnet, user=eng, **change)
    workload_update(workload=resnet, user=eng, precision="fp16", samples_per_epoch=10)


def test_only_the_owner_or_an_administrator_changes_it(resnet, vera, ada):
    with pytest.raises(Forbidden, match="Only eng"):
        workload_update(workload=resnet, user=vera, notes="mine now")
    assert workload_update(workload=resnet, user=ada, notes="tidied").notes == "tidied"


@pytest.fixture
def measured(resnet, orin):
    """resnet on two boards, with one run nobody may see and two that count for nothing; idle without runs."""
    other = DeviceModel.objects.get(pk=orin.pk)
    other.pk, other.slug, other.name = None, "orin-twin", "Orin Twin"
    other.save()
    half = Upload.objects.create(filename="half.csv", size=1, sha256="b" * 64, hidden=True)
    abouts: list[dict] = [{}, {"minibatch": 32}, {"device_model": other}, {"emulated": True}]
    abouts += [{"upload": half}, {"state": "failed"}, {"state": "superseded"}]
    Workload.objects.create(slug="idle", name="Idle", kind="training", network="I", minibatch=1)
    for about in abouts:
        Run.objects.create(**{"workload": resnet, "device_model": orin, "minibatch": 16, **about})


def test_a_list_says_of_each_workload_what_was_measured(measured):
    shown = list(Workload.objects.order_by("name"))
    workloads_tell(shown)
    facts = [(each.slug, each.run_count, each.board_count, each.last_run) for each in shown]
    last = Run.objects.filter(state="complete").latest("created").created
    assert facts == [("idle", 0, 0, None), ("resnet", 4, 2, last)]
    assert facts == [(w.slug, w.run_count, w.board_count, w.last_run) for w in workload_list()]


def test_groups_are_apart_by_board_source_and_minibatch_size(measured):
    groups = [(g.device_model.slug, g.emulated, g.minibatch, g.runs) for g in run_groups(run_list())]
    assert groups == [
        ("orin-mini", False, 16, 1),
        ("orin-mini", False, 32, 1),
        ("orin-mini", True, 16, 1),
        ("orin-twin", False, 16, 1),
    ]
