"""The protocol: what is discarded, awaited, collected, flagged and left unknown."""

import json
import random

import pytest

from profiling.agent.measure import measure, measure_baseload
from profiling.agent.rules import Rules
from profiling.errors import BoardError, InvalidInput
from profiling.workloads.base import WorkloadFailed
from tests.agent.conftest import MODE, PaperBoard, PaperWorkload


def run_of(board, workload, knobs=MODE, **rules):
    return measure(board, workload, knobs, minibatch=16, rules=Rules(**rules))


def test_it_measures_at_least_forty_clean_minibatches(board, workload):
    run = run_of(board, workload)
    assert (run.time_ms, run.power_mw, run.flags, run.unknowns) == (100.0, 10_000.0, (), {})
    assert run.minibatches >= 40
    assert run.power_samples >= 10


def test_energy_is_power_times_time(board, workload):
    run = run_of(board, workload)
    assert run.energy_mj == pytest.approx(run.power_mw * run.time_ms / 1000, rel=1e-6)


def test_fetch_and_compute_are_told_apart(board, workload):
    run = run_of(board, workload)
    assert (run.fetch_ms, run.compute_ms) == pytest.approx((20.0, 80.0))


def test_the_first_minibatch_is_discarded(board, workload):
    workload.time_ms = lambda index: 5000.0 if index == 0 else 100.0
    run = run_of(board, workload)
    assert (run.time_ms, run.time_sd_ms) == (100.0, 0.0)


def test_nothing_counts_until_power_is_steady(board, workload):
    board.power = lambda seconds: 10_000.0 + max(0.0, 4 - seconds) * 2000
    run = run_of(board, workload)
    assert run.window_start_s > 3.5
    assert run.power_mw == pytest.approx(10_000, rel=0.02)


def test_it_waits_a_second_and_a_half_even_when_power_seems_steady(board, workload):
    workload.time_ms = lambda index: 1.0
    assert run_of(board, workload).window_start_s >= 1.5


def test_a_fast_mode_is_measured_until_there_are_enough_power_samples(board, workload):
    workload.time_ms = lambda index: 4.0
    run = run_of(board, workload)
    assert run.power_samples == 10
    assert run.minibatches > 1000


def test_times_are_watched_for_two_seconds_even_where_power_is_unknown(board, workload):
    board.power, workload.time_ms = lambda seconds: None, lambda index: 4.0
    assert run_of(board, workload).minibatches >= 500


def test_a_slow_mode_is_measured_until_there_are_enough_minibatches(board, workload):
    workload.time_ms = lambda index: 3000.0
    run = run_of(board, workload)
    assert run.minibatches == 40
    assert run.power_samples >= 100


def test_power_that_never_settles_is_flagged_and_still_measured(board, workload):
    board.power = lambda seconds: 10_000.0 * 1.1**seconds
    run = run_of(board, workload, settle_limit_s=5.0)
    assert run.flags == ("unstable",)
    assert "5 s" in run.why["unstable"]
    assert run.power_mw > 10_000 * 1.1**5


def test_power_that_drifts_only_later_is_flagged(board, workload):
    board.power = lambda seconds: 10_000.0 + 1000 * max(0.0, seconds - 4)
    assert run_of(board, workload).why == {"unstable": "power drifted while measuring"}


def test_scattering_times_are_flagged(board, workload):
    workload.time_ms = lambda index: 50.0 if index % 2 else 150.0
    assert "unstable" in run_of(board, workload).flags


def test_alarms_mark_the_run_as_throttled(board, workload):
    board.alarms = ("curr1_alarm",)
    run = run_of(board, workload)
    assert run.flags == ("throttled",)
    assert "curr1_alarm" in run.why["throttled"]


def test_a_clock_below_the_one_asked_for_is_throttled(board, workload):
    board.gpu_khz = 250_000
    assert run_of(board, workload).why["throttled"] == "GPU ran at 250 MHz, asked for 500 MHz"


def test_a_clock_the_board_cannot_hold_is_not_judged(board, workload):
    board.mem_khz = 1_000_000
    assert run_of(board, workload).flags == ()


def test_a_window_cut_short_says_so(board, workload):
    workload.time_ms = lambda index: 1000.0
    run = run_of(board, workload, limit_s=6.0)
    assert set(run.flags) == {"short"}
    assert run.minibatches < 10


def test_too_few_power_samples_are_flagged(board, workload):
    board.power = lambda seconds: 10_000.0 if seconds < 4 else None
    run = run_of(board, workload, limit_s=20.0)
    assert run.flags == ("few_power_samples",)
    assert (run.power_mw, run.power_samples < 10) == (10_000, True)


def test_unknown_power_has_the_boards_reason_and_no_zero(board, workload):
    board.power = lambda seconds: None
    run = run_of(board, workload)
    assert (run.power_mw, run.energy_mj, run.power_samples) == (None, None, 0)
    assert run.unknowns == {"power_mw": "no sensor on paper", "energy_mj": "no sensor on paper"}
    assert run.time_ms == 100.0


def test_dvfs_leaves_the_clocks_alone_and_says_so(board, workload):
    run = run_of(board, workload, knobs=None)
    assert board.applied == []
    assert run.flags == ("dvfs_on",)


def test_times_apart_are_taken_without_a_look_at_the_sensors(board, workload):
    looks_during_times = []
    workload.time_ms = lambda index: looks_during_times.append((index, board.reads)) or 100.0
    run = run_of(board, workload, passes="apart")
    reads_by_minibatch = dict(looks_during_times)
    quiet = max(
        sum(reads == other for reads in reads_by_minibatch.values())
        for other in set(reads_by_minibatch.values())
    )
    assert quiet >= 40
    assert run.power_samples >= 10
    assert run.energy_mj == pytest.approx(1000.0)


def test_a_group_of_modes_starts_the_workload_once_and_at_full_speed(board, workload):
    for knobs in (MODE, MODE._replace(cpu_khz=500_000), MODE._replace(cores=2, cpu_khz=500_000)):
        run_of(board, workload, knobs)
    assert [word for word in workload.told if word.startswith("start")] == ["start 4", "start 2"]
    assert board.applied[3:] == [MODE._replace(cores=2), MODE._replace(cores=2, cpu_khz=500_000)]
    assert workload.told.count("pause") == 3


def test_a_hot_board_rests_before_it_runs(board, workload):
    board.celsius = lambda seconds: 95.0 - seconds
    run = run_of(board, workload)
    assert run.phases_s["cooling"] == pytest.approx(25, abs=1)


def test_a_board_that_stays_hot_is_refused(board, workload):
    board.celsius = lambda seconds: 95.0
    with pytest.raises(BoardError, match="95 °C after 30 s"):
        run_of(board, workload, cool_limit_s=30.0)


def test_a_board_that_gets_too_hot_while_measuring_is_flagged(board, workload):
    board.celsius = lambda seconds: 60.0 + 5 * seconds
    assert "hot" in run_of(board, workload).flags


def test_a_failing_workload_is_stopped_and_its_words_kept(board, workload):
    workload.lasts = 20
    with pytest.raises(WorkloadFailed) as caught:
        run_of(board, workload)
    assert caught.value.last_lines == ("last words",)
    assert workload.told[-1] == "stop"


def test_a_cancelled_run_stops_the_workload(board, workload):
    def cancel(progress):
        if progress.minibatches > 5:
            raise InterruptedError("cancelled")

    with pytest.raises(InterruptedError):
        measure(board, workload, MODE, minibatch=16, heartbeat=cancel)
    assert workload.told[-1] == "stop"


def test_progress_tells_the_phases_in_order(board, workload):
    phases = []
    measure(board, workload, MODE, minibatch=16, heartbeat=lambda progress: phases.append(progress.phase))
    assert list(dict.fromkeys(phases)) == ["starting", "settling", "measuring"]


def test_baseload_is_power_without_a_workload(board):
    run = measure_baseload(board, MODE)
    assert (run.kind, run.power_mw, run.time_ms, run.energy_mj) == ("baseload", 10_000.0, None, None)
    assert run.unknowns["time_ms"] == "baseload: no workload ran"
    assert run.flags == ()


def test_the_delivery_is_json_in_the_servers_words(board, workload):
    body = json.loads(json.dumps(run_of(board, workload).delivery()))
    assert body["measured"]["provenance"]["total_rule"] == "VDD_IN"
    assert body["measured"]["extra"]["window_end_s"] > body["measured"]["extra"]["window_start_s"]
    assert len({len(column) for column in body["telemetry"].values()}) == 1
    assert body["telemetry"]["time_s"][0] == 0


def test_provenance_names_rules_driver_and_conditions(board, workload):
    run = measure(board, workload, MODE, minibatch=16, conditions={"governor": "schedutil", "fan": 255})
    assert run.provenance["governor"] == "schedutil"
    assert run.provenance["rules"]["sample_period_s"] == 0.5
    assert (run.provenance["driver"], run.provenance["emulated"]) == ("paper", True)
    assert run.provenance["workload"] == {"torch": "paper"}


@pytest.mark.parametrize("seed", range(3))
def test_noise_does_not_bias_time_or_power(seed):
    rng = random.Random(seed)
    board = PaperBoard(power=lambda seconds: 20_000 * rng.gauss(1, 0.012))
    workload = PaperWorkload(board.clock, time_ms=lambda index: 80 * rng.gauss(1, 0.015))
    run = run_of(board, workload)
    assert run.time_ms == pytest.approx(80, rel=0.01)
    assert run.power_mw == pytest.approx(20_000, rel=0.015)


def test_a_sweeps_options_set_the_rules():
    rules = Rules.from_options({"minibatches": 100, "passes": "apart"})
    assert (rules.minibatches, rules.passes, rules.power_samples) == (100, "apart", 10)


@pytest.mark.parametrize(
    "options",
    [
        {"minibatches": 1.5},
        {"limit_s": float("nan")},
        {"passes": "none"},
        {"settle_s": -1},
        {"steady_samples": 1},
        {"speed": 3},
    ],
)
def test_senseless_rules_are_refused(options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        Rules.from_options(options)
