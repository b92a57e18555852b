import pytest

from profiling.errors import Conflict, InvalidInput
from profiling.knobs import Knobs
from profiling.models import Device, Run, Sweep
from profiling.services.agents import run_claim, run_complete, run_fail, run_heartbeat, runs_reap
from profiling.services.sweeps import sweep_cancel, sweep_extend, sweep_request, sweep_resume, sweeps_settle
from profiling.signals import runs_changed, sweep_drained

SLOW = Knobs(2, 268_800, 318_750, 665_600)
FAST = Knobs(6, 2_201_600, 1_300_500, 3_199_000)
MEASURED = {
    "time_ms": 59.0,
    "power_mw": 51_000.0,
    "energy_mj": 3009.0,
    "minibatches": 40,
    "power_samples": 12,
}
TELEMETRY = {"time_s": [0.0, 0.5, 1.0], "power_vdd_in_mw": [50_000, None, 52_000]}


@pytest.fixture
def sweep(board, resnet, eng):
    return sweep_request(device=board, workload=resnet, strategy="list", modes=[SLOW, FAST], user=eng)


@pytest.fixture
def heard():
    """Every signal sent, as (signal, arguments)."""
    calls = []
    receivers = []
    for signal in (runs_changed, sweep_drained):

        def receiver(sender, signal, _calls=calls, **arguments):
            _calls.append((signal, arguments))

        signal.connect(receiver)
        receivers.append((signal, receiver))
    yield calls
    for signal, receiver in receivers:
        signal.disconnect(receiver)


def test_a_sweep_measures_high_modes_first(sweep):
    assert [run.knobs for run in sweep.runs.order_by("order")] == [FAST, SLOW]


def test_runs_of_an_emulated_board_say_so(sweep):
    assert [run.emulated for run in sweep.runs.all()] == [True, True]


def test_runs_point_at_the_stored_power_mode(sweep):
    assert {run.power_mode.knobs for run in sweep.runs.all()} == {SLOW, FAST}


def test_every_illegal_mode_is_named_with_its_nearest(board, resnet):
    wrong = FAST._replace(cpu_khz=2_000_000)
    with pytest.raises(InvalidInput) as refused:
        sweep_request(device=board, workload=resnet, strategy="list", modes=[wrong, SLOW, wrong])
    assert [problem["mode"] for problem in refused.value.extra["errors"]] == [1, 3]
    assert "2201.6 MHz" in refused.value.extra["errors"][0]["reason"]
    assert not Sweep.objects.exists()


def test_a_retired_board_takes_no_sweep(board, resnet):
    board.retired = True
    with pytest.raises(Conflict, match="retired"):
        sweep_request(device=board, workload=resnet, strategy="list", modes=[FAST])


def test_extending_leaves_out_what_the_sweep_has(sweep):
    assert sweep_extend(sweep=sweep, modes=[FAST, SLOW]) == []
    assert len(sweep_extend(sweep=sweep, modes=[FAST._replace(cores=4)])) == 1


def test_each_run_is_claimed_once(sweep, board):
    first = run_claim(device=board, agent="a")
    run_complete(run=first, measured=MEASURED)
    second = run_claim(device=board, agent="a")
    run_complete(run=second, measured=MEASURED)
    assert [first.knobs, second.knobs, run_claim(device=board, agent="a")] == [FAST, SLOW, None]


def test_the_first_claim_starts_the_sweep(sweep, board):
    run_claim(device=board, agent="a")
    sweep.refresh_from_db()
    assert sweep.state == Sweep.State.RUNNING


def test_a_restarted_agent_gets_its_lost_run_again(sweep, board):
    lost = run_claim(device=board, agent="a")
    again = run_claim(device=board, agent="a")
    assert (again.pk, again.attempts) == (lost.pk, 2)


def test_a_second_agent_is_refused_while_the_first_lives(sweep, board):
    run_claim(device=board, agent="a")
    with pytest.raises(Conflict, match="Another agent"):
        run_claim(device=board, agent="b")


def test_delivery_twice_stores_once(sweep, board, django_capture_on_commit_callbacks):
    run = run_claim(device=board, agent="a")
    with django_capture_on_commit_callbacks(execute=True):
        assert run_complete(run=run, measured=MEASURED, telemetry=TELEMETRY)
        assert not run_complete(run=run, measured={**MEASURED, "time_ms": 1.0}, telemetry=TELEMETRY)
    run.refresh_from_db()
    assert (run.state, run.time_ms, run.telemetry.count()) == (Run.State.COMPLETE, 59.0, 1)


def test_an_impossible_value_is_named(sweep, board):
    run = run_claim(device=board, agent="a")
    with pytest.raises(InvalidInput) as refused:
        run_complete(run=run, measured={**MEASURED, "power_mw": -1, "time_ms": float("nan")})
    assert [problem["field"] for problem in refused.value.extra["errors"]] == ["time_ms", "power_mw"]


def test_the_last_delivery_closes_the_sweep_and_tells(
    sweep, board, heard, django_capture_on_commit_callbacks
):
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            run_complete(run=run_claim(device=board, agent="a"), measured=MEASURED)
    sweep.refresh_from_db()
    assert sweep.state == Sweep.State.DONE
    assert [signal for signal, _ in heard] == [runs_changed, runs_changed, sweep_drained]


def test_a_listener_may_extend_a_drained_sweep(sweep, board, django_capture_on_commit_callbacks):
    def one_more(sender, sweep_id, **_):
        sweep_extend(sweep=Sweep.objects.get(pk=sweep_id), modes=[FAST._replace(cores=4)])

    sweep_drained.connect(one_more)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            run_complete(run=run_claim(device=board, agent="a"), measured=MEASURED)
    sweep_drained.disconnect(one_more)
    sweep.refresh_from_db()
    assert (sweep.state, sweep.runs.filter(state="pending").count()) == (Sweep.State.RUNNING, 1)


def test_a_failing_run_is_tried_three_times(sweep, board):
    for _ in range(3):
        run = run_claim(device=board, agent="a")
        assert run.knobs == FAST
        run_fail(run=run, reason="the workload hung")
    run.refresh_from_db()
    assert (run.state, run.failure) == (Run.State.FAILED, "the workload hung")


@pytest.mark.parametrize("heard", ["2020-01-01T00:00:00Z", "2120-01-01T00:00:00Z"])
def test_runs_of_a_silent_agent_come_back_whatever_the_clock(sweep, board, heard):
    run = run_claim(device=board, agent="a")
    Run.objects.filter(pk=run.pk).update(heartbeat_at=heard)
    assert runs_reap() == 1
    run.refresh_from_db()
    assert run.state == Run.State.PENDING
    assert "fell silent" in run.failure


def test_a_clock_that_was_set_back_keeps_no_board_to_a_dead_agent(sweep, board):
    run_claim(device=board, agent="a")
    Device.objects.update(last_seen="2120-01-01T00:00:00Z")
    assert run_claim(device=board, agent="b")


def test_cancelling_stops_pending_runs_and_tells_the_agent(sweep, board):
    run = run_claim(device=board, agent="a")
    assert run_heartbeat(run=run, agent="a", status={})
    sweep_cancel(sweep=sweep)
    assert not run_heartbeat(run=run, agent="a", status={})
    assert run_claim(device=board, agent="a") is None


def test_a_late_delivery_of_a_cancelled_run_is_kept(sweep, board):
    run = run_claim(device=board, agent="a")
    sweep_cancel(sweep=sweep)
    assert run_complete(run=run, measured=MEASURED)


def test_resuming_takes_up_what_is_missing(sweep, board):
    run_complete(run=run_claim(device=board, agent="a"), measured=MEASURED)
    sweep.refresh_from_db()
    sweep_cancel(sweep=sweep)
    sweep.refresh_from_db()
    sweep_resume(sweep=sweep)
    assert [run.knobs for run in sweep.runs.filter(state=Run.State.PENDING)] == [SLOW]


def test_a_listener_that_needs_time_keeps_the_sweep_open(sweep, board, django_capture_on_commit_callbacks):
    def later(sender, sweep_id, **_):
        return True

    sweep_drained.connect(later)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            run_complete(run=run_claim(device=board, agent="a"), measured=MEASURED)
    sweep.refresh_from_db()
    assert sweep.state == Sweep.State.RUNNING
    sweep_drained.disconnect(later)
    sweeps_settle()
    sweep.refresh_from_db()
    assert sweep.state == Sweep.State.DONE
