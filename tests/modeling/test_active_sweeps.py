import numpy as np
import pytest

from modeling import active_sweeps
from modeling.active_sweeps import sweep_choose
from modeling.tasks import choose_modes
from profiling.models import Run, Sweep
from profiling.services.sweeps import sweep_request, sweep_settle
from tests.modeling.conftest import truth


@pytest.fixture
def sweep(emulator, resnet):
    """As requested: it begins with the largest mode."""
    return sweep_request(
        device=emulator,
        workload=resnet,
        strategy="active",
        modes=[emulator.ranges.maximum],
        options={"count": 6, "seed": 0},
    )


def deliver(sweep, state=Run.State.COMPLETE):
    """The board measures all that waits, by the formula."""
    for run in sweep.runs.filter(state=Run.State.PENDING):
        time_ms, power_mw = truth(np.array([run.knobs]))
        known = {"time_ms": time_ms[0], "power_mw": power_mw[0]} if state == Run.State.COMPLETE else {}
        Run.objects.filter(pk=run.pk).update(state=state, **known)


def state_of(sweep):
    sweep.refresh_from_db()
    return sweep.state, sweep.runs.count()


def test_a_drained_active_sweep_asks_a_worker(sweep, sent, django_capture_on_commit_callbacks):
    deliver(sweep)
    with django_capture_on_commit_callbacks(execute=True):
        sweep_settle(sweep_id=sweep.pk)
    assert sweep.pk in sent
    assert state_of(sweep) == ("pending", 1)


def test_batch_after_batch_until_it_has_its_modes(sweep):
    counts = []
    while state_of(sweep)[0] == "pending":
        deliver(sweep)
        choose_modes(sweep.pk)
        counts.append(sweep.runs.count())
    assert counts == [3, 5, 6, 6]
    assert state_of(sweep)[0] == "done"
    assert sweep.runs.values("cores", "cpu_khz", "gpu_khz", "mem_khz").distinct().count() == 6


def test_a_doubled_message_chooses_once(sweep):
    deliver(sweep)
    choose_modes(sweep.pk)
    choose_modes(sweep.pk)
    assert state_of(sweep) == ("pending", 3)


def test_it_says_what_the_batch_should_bring(sweep):
    deliver(sweep)
    sweep_choose(sweep_id=sweep.pk)
    sweep.refresh_from_db()
    assert "2 more modes: about" in sweep.message


def test_a_mode_that_failed_is_not_tried_again(sweep):
    deliver(sweep, Run.State.FAILED)
    sweep_choose(sweep_id=sweep.pk)
    assert sweep.runs.count() == 4
    assert sweep.runs.values("cores", "cpu_khz", "gpu_khz", "mem_khz").distinct().count() == 4


def test_it_stops_when_more_would_hardly_help(sweep, monkeypatch):
    monkeypatch.setattr(active_sweeps, "MODES_BEFORE_STOPPING", 1)
    monkeypatch.setattr(active_sweeps.Outlook, "worthwhile", False)
    deliver(sweep)
    sweep_choose(sweep_id=sweep.pk)
    assert state_of(sweep) == ("done", 1)
    assert sweep.message.startswith("Stopped early. 2 more modes")


def test_a_cancelled_sweep_is_left_alone(sweep):
    deliver(sweep)
    Sweep.objects.update(state="cancelled")
    sweep_choose(sweep_id=sweep.pk)
    assert state_of(sweep) == ("cancelled", 1)


def test_a_choice_that_cannot_be_made_closes_the_sweep_with_the_reason(sweep, monkeypatch):
    def fail(*args, **kwargs):
        raise ValueError("no mode left")

    monkeypatch.setattr(active_sweeps, "choose_next", fail)
    deliver(sweep)
    sweep_choose(sweep_id=sweep.pk)
    assert state_of(sweep) == ("done", 1)
    assert sweep.message == "No further mode could be chosen: no mode left."
