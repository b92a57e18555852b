"""Active sweeps from request to end, played by an agent that measures by the formula."""

import numpy as np
import pytest

from modeling import active_sweeps
from modeling.active_sweeps import sweep_choose
from modeling.models import Predictor
from profiling.asking import SweepQuestion
from profiling.models import Run, Sweep
from profiling.services.agents import run_claim, run_complete, run_fail
from profiling.services.sweeps import sweep_ask, sweep_cancel, sweep_resume
from tests.modeling.conftest import truth


@pytest.fixture
def ask(emulator, resnet, eng, after_commit):
    def request(count: int, **options) -> Sweep:
        asked = {"device": emulator, "workload": resnet, "strategy": "active", "count": count, **options}
        with after_commit(execute=True):
            return sweep_ask(question=SweepQuestion(**asked), user=eng)

    return request


@pytest.fixture
def work(emulator, after_commit):
    """Measure every pending run of the board; how many."""

    def agent() -> int:
        done = 0
        while run := run_claim(device=emulator, agent="a"):
            (time_ms,), (power_mw,) = truth(np.array([run.knobs]))
            with after_commit(execute=True):
                run_complete(run=run, measured={"time_ms": float(time_ms), "power_mw": float(power_mw)})
            done += 1
        return done

    return agent


@pytest.fixture
def choose(after_commit):
    def worker(sweep: Sweep) -> Sweep:
        with after_commit(execute=True):
            sweep_choose(sweep_id=sweep.pk)
        sweep.refresh_from_db()
        return sweep

    return worker


def play(sweep, work, choose):
    while work():
        choose(sweep)
    return sweep


def test_it_begins_at_the_fastest_mode_while_nothing_is_measured(ask, orin):
    assert [run.knobs for run in ask(8).runs.all()] == [orin.maximum]


def test_a_drained_sweep_stays_open_and_wakes_a_worker(ask, work, sent):
    sweep = ask(8)
    assert work() == 1
    sweep.refresh_from_db()
    assert sweep.state == Sweep.State.RUNNING
    assert sent == [sweep.pk]


def test_it_measures_in_steps_until_it_has_as_many_as_asked(ask, work, choose):
    sweep, batches = ask(8), []
    while batch := work():
        batches.append(batch)
        choose(sweep)
    assert batches == [1, 2, 2, 2, 1]
    assert (sweep.state, sweep.message) == (Sweep.State.DONE, "")
    assert len({run.knobs for run in sweep.runs.all()}) == 8


def test_a_batch_is_ordered_to_save_core_switches(ask, work, choose):
    sweep = play(ask(14), work, choose)
    last = [run.cores for run in sweep.runs.order_by("order")][10:]
    assert last == sorted(last, reverse=True)


def test_what_is_measured_already_is_learned_from_and_not_repeated(ask, work, choose, resnet, measure):
    known = {run.knobs for run in measure(resnet, range(0, 36, 4), emulated=True)}
    sweep = ask(4)
    assert not sweep.runs.exists()
    play(choose(sweep), work, choose)
    assert sweep.runs.count() == 4
    assert known.isdisjoint(run.knobs for run in sweep.runs.all())


def test_a_slower_twin_finds_the_batch_already_chosen(ask, work, choose):
    sweep = ask(8)
    work()
    late = active_sweeps.decide(sweep, seen=1)
    choose(sweep)
    active_sweeps.carry_out(sweep, 1, late)
    assert sweep.runs.count() == 3


def test_a_mode_that_failed_is_not_chosen_again(ask, work, choose, emulator, after_commit):
    sweep = ask(6)
    with after_commit(execute=True):
        run_fail(run=run_claim(device=emulator, agent="a"), reason="the kernel refused", again=False)
    play(choose(sweep), work, choose)
    assert sweep.runs.filter(state=Run.State.FAILED).count() == 1
    assert sweep.runs.filter(state=Run.State.COMPLETE).count() == 5


def test_a_board_with_no_mode_left_ends_it(ask, work, choose, resnet, measure):
    measure(resnet, range(35), emulated=True)
    sweep = play(choose(ask(5)), work, choose)
    assert (sweep.runs.count(), sweep.message) == (1, "The board has no further mode to measure.")


def test_its_end_asks_for_a_predictor(ask, work, choose, resnet):
    play(ask(3), work, choose)
    assert Predictor.objects.get().workload == resnet


def test_cancelled_between_two_batches_it_can_be_resumed(ask, work, choose, after_commit, sent):
    sweep = ask(8)
    work()
    sweep.refresh_from_db()
    sweep_cancel(sweep=sweep)
    assert choose(sweep).runs.count() == 1
    with after_commit(execute=True):
        sweep_resume(sweep=sweep)
    assert play(choose(sweep), work, choose).runs.count() == 8


@pytest.mark.parametrize("aim", ["front", 20_000.0])
def test_it_may_be_aimed(ask, work, choose, aim):
    sweep = play(ask(6, aim=aim), work, choose)
    assert sweep.runs.count() == 6
