"""Several boards: which runs which workload."""

import pytest
from django.urls import reverse

from profiling.models import Device


@pytest.fixture
def boards(orin, xavier):
    return [
        Device.objects.create(slug=slug, name=slug, device_model=model, driver="sysfs")
        for slug, model in (("first", orin), ("second", orin), ("other", xavier))
    ]


@pytest.fixture
def ask(browser, ready, boards):
    def get(*names, workloads=("resnet",), **terms):
        return browser.get(reverse("plan-assign"), {"workload": workloads, "board": names, **terms})

    return get


def test_it_asks_first(browser):
    assert "Nothing asked yet" in browser.get(reverse("plan-assign")).content.decode()


def test_a_workload_gets_a_board_whose_kind_is_predicted(ask):
    [row] = ask("other", "first").context["rows"]
    assert [(each.board.slug, each.chosen) for each in row] == [("first", True), ("other", False)]
    assert "No predictor" in row[1].reason
    assert row[0].energy_kwh.low < row[0].energy_kwh.value < row[0].energy_kwh.high


def test_a_board_runs_one_workload_and_the_other_waits(ask, yolo):
    context = ask("first", workloads=("resnet", "yolo")).context
    assert [each.workload.slug for each in context["placed"]] == ["resnet"]
    assert context["waiting"] == [yolo]


def test_a_limit_that_no_mode_keeps_leaves_nobody(ask):
    page = ask("first", power_w=1)
    assert page.context["placed"] == []
    assert "No mode keeps the power limit." in page.content.decode()


def test_the_aims_choose_modes_of_their_own(ask):
    lean = ask("first", aim="energy").context["placed"][0]
    fast = ask("first", aim="latest").context["placed"][0]
    assert lean.energy_kwh.value <= fast.energy_kwh.value
    assert fast.done_s.value <= lean.done_s.value


@pytest.mark.parametrize("terms", [{"epochs": "-1"}, {"risk": "99"}, {"aim": "soon"}])
def test_nonsense_is_named_beside_its_field(ask, terms):
    page = ask("first", **terms)
    assert page.status_code == 200
    assert page.context["rows"] == []
    assert 'class="errors"' in page.content.decode()
