"""A workload that crashes, hangs, eats memory or prints garbage is ended, and its last lines are told."""

import json
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.workloads.base import Minibatch, WorkloadFailed
from profiling.workloads.process import Patience, event_of, group_memory_bytes, minibatch_of
from profiling.workloads.sandbox import Limits
from tests.waiting import ended, wait_until

IMPATIENT = Patience(start_s=60, minibatch_s=0.6, stop_s=0.3)


def measured(process, count=1, wait_s=30.0):
    process.start(None)
    process.go()
    return [process.next_minibatch(time.monotonic() + wait_s) for _ in range(count)]


def test_it_yields_minibatches_in_order(fake):
    minibatches = measured(fake("for i in range(3): minibatch(i, 2.5)\ntime.sleep(9)"), 3)
    assert [m.index for m in minibatches] == [0, 1, 2]
    assert minibatches[0].start_s == pytest.approx(minibatches[0].end_s - 0.0025)


def test_it_answers_none_when_no_minibatch_ends_in_time(fake):
    assert measured(fake("time.sleep(9)"), wait_s=0.05) == [None]


def test_a_crash_brings_its_last_lines(fake):
    process = fake("minibatch(0)\nraise RuntimeError('the dog ate the weights')")
    with pytest.raises(WorkloadFailed) as caught:
        measured(process, 2)
    assert "exit code 1" in caught.value.message
    assert "the dog ate the weights" in caught.value.last_lines[-1]


def test_a_reported_error_is_named(fake):
    process = fake("say(event='error', kind='OutOfMemoryError', message='2 GiB', trace=['line 7'])")
    with pytest.raises(WorkloadFailed, match="OutOfMemoryError: 2 GiB") as caught:
        measured(process)
    assert caught.value.last_lines == ("line 7",)


def test_a_hanging_workload_is_given_up_and_killed(fake):
    process = fake(
        "import signal; signal.signal(15, signal.SIG_IGN)\nminibatch(0)\nwhile True: time.sleep(1)"
    )
    measured(process)
    process.patience = IMPATIENT
    pid = process._process.pid
    with pytest.raises(WorkloadFailed, match="no minibatch for 0.6 s"):
        process.next_minibatch(time.monotonic() + 5)
    process.stop()
    assert ended(pid)


def test_children_of_a_stopped_workload_are_ended_too(fake):
    process = fake("child = os.fork()\nminibatch(child if child else 0)\ntime.sleep(60)")
    children = [m.index for m in measured(process, 2)]
    process.stop()
    wait_until(lambda: ended(max(children)))


def test_one_that_allocates_past_its_limit_is_refused_the_memory(fake):
    process = fake("minibatch(0)\nx = bytearray(1 << 30)\nminibatch(1)", Limits(memory_bytes=256 << 20))
    with pytest.raises(WorkloadFailed) as caught:
        measured(process, 2)
    assert "MemoryError" in caught.value.last_lines[-1]


def test_children_that_eat_memory_together_are_ended(fake):
    code = "for _ in range(4): os.fork() or (bytearray(os.urandom(1 << 20) * 60), time.sleep(9))\n"
    code += "for i in range(60): minibatch(i); time.sleep(0.1)"
    process = fake(code, Limits(memory_bytes=200 << 20))
    with pytest.raises(WorkloadFailed, match="its limit is 200 MiB"):
        measured(process, 60)


def test_a_workload_that_computes_too_long_is_ended(fake):
    process = fake("minibatch(0)\nwhile True: pass", Limits(cpu_s=1))
    with pytest.raises(WorkloadFailed, match="SIGKILL|SIGXCPU"):
        measured(process, 2)


def test_a_file_past_the_limit_cannot_be_written(fake):
    process = fake("open('big', 'wb').write(b'x' * 50_000)\nminibatch(0)", Limits(file_bytes=1000))
    with pytest.raises(WorkloadFailed) as caught:
        measured(process)
    assert "File too large" in caught.value.last_lines[-1] or "SIGXFSZ" in caught.value.message


def test_garbage_between_events_is_kept_as_last_lines_only(fake):
    process = fake("print('loss: 0.3'); print('[1, 2]'); print('{\"event\": 7}'); minibatch(0)\nsys.exit(3)")
    with pytest.raises(WorkloadFailed) as caught:
        measured(process, 2)
    assert caught.value.last_lines[:2] == ("loss: 0.3", "[1, 2]")


def test_somebody_who_waits_may_give_up(fake):
    def give_up():
        raise InterruptedError("cancelled")

    process = fake("")
    with pytest.raises(InterruptedError):
        process.start(None, give_up)
    assert not process.is_ready(None)


def test_endless_garbage_counts_as_a_hang(fake):
    with pytest.raises(WorkloadFailed, match="no minibatch"):
        measured(fake("while True: print('y' * 200000); time.sleep(0.01)", patience=IMPATIENT))


@pytest.mark.parametrize("time_ms", ["-1", "NaN", "'fast'", "1e999"])
def test_an_impossible_time_is_refused(fake, time_ms):
    event = {"event": "minibatch", "i": 0, "epoch": 0, "t": 1.0, "fetch_ms": 0.0, "compute_ms": 0.0}
    with pytest.raises(WorkloadFailed):
        minibatch_of({**event, "time_ms": float(time_ms) if time_ms[0] != "'" else time_ms})


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text(), st.lists).map(lambda x: json.dumps(x).encode())
)
def test_no_line_breaks_the_reader(line):
    event = event_of(line)
    assert event is None or isinstance(event["event"], str)


@given(
    st.dictionaries(
        st.sampled_from(["i", "epoch", "t", "time_ms", "fetch_ms", "compute_ms"]), st.floats() | st.text()
    )
)
def test_no_minibatch_with_a_bad_field_gets_through(event):
    try:
        minibatch = minibatch_of(event)
    except WorkloadFailed:
        return
    assert isinstance(minibatch, Minibatch)
    assert 0 <= minibatch.time_ms < float("inf")


def test_memory_is_counted_over_descendants():
    assert group_memory_bytes(os.getpid()) > 1 << 20
    assert group_memory_bytes(2**22 + 1) == 0
