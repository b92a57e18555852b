"""The runner as its own process, as the agent starts it: held, let go, ended, and never hurt by prints."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from profiling.workloads.arguments import runner_arguments
from profiling.workloads.base import WorkloadFailed
from profiling.workloads.package import inspect, unpack
from profiling.workloads.process import RUNNER, Patience, RunnerProcess
from profiling.workloads.sandbox import Limits
from tests.packages import nobodys_python

LENET = ["--network", "lenet5", "--data", "digits", "--minibatch", "16"]
OURS = Limits(user=None)


@pytest.fixture
def lenet():
    process = RunnerProcess(LENET, limits=OURS, patience=Patience(60, 60, 10))
    yield process
    process.stop()


def take(process, count):
    taken = []
    while len(taken) < count:
        minibatch = process.next_minibatch(time.monotonic() + 30)
        taken += [minibatch] if minibatch else []
    return taken


def test_it_is_held_let_go_held_and_ended(lenet):
    lenet.start(1)
    assert lenet.facts["threads"] == 1
    assert lenet.next_minibatch(time.monotonic() + 0.1) is None
    began_s = time.monotonic()
    lenet.go()
    before = take(lenet, 5)
    assert began_s - 1 < before[0].start_s < before[-1].end_s <= time.monotonic()
    lenet.pause()
    assert lenet.next_minibatch(time.monotonic() + 0.3) is None
    lenet.go()
    after = take(lenet, 5)
    assert after[0].start_s > before[-1].end_s
    assert all(m.time_ms >= m.fetch_ms for m in before + after)
    assert lenet.is_ready(1)
    lenet.stop()
    assert not lenet.is_ready(1)


def test_two_copied_files_run_alone_and_end_on_sigterm(tmp_path):
    for name in ("runner.py", "zoo.py"):
        shutil.copy(RUNNER.with_name(name), tmp_path)
    command = [sys.executable, str(tmp_path / "runner.py"), "--network", "lenet5", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "start"
        assert json.loads(process.stdout.readline())["event"] == "minibatch"
        process.send_signal(signal.SIGTERM)
        last = process.stdout.readlines()[-1]
    assert (process.returncode, json.loads(last)["reason"]) == (0, "stopped")


NOISY = """
import os, torch
print("printed while loading")
os.write(1, b"written to descriptor one\\n")
def build(): return torch.nn.Linear(4, 3)
def batches(minibatch):
    print('{"event": "minibatch", "i": 0}')
    for n in range(9):
        if n == 5: raise ZeroDivisionError("no more data")
        yield torch.randn(minibatch, 4), torch.zeros(minibatch, dtype=torch.long)
"""


def test_a_users_prints_are_no_events_and_its_failure_is_told(tmp_path):
    (tmp_path / "workload.py").write_text(NOISY)
    process = RunnerProcess(["--file", str(tmp_path)], limits=OURS)
    process.start(1)
    process.go()
    assert [minibatch.index for minibatch in take(process, 5)] == [0, 1, 2, 3, 4]
    with pytest.raises(WorkloadFailed, match="ZeroDivisionError: no more data") as caught:
        take(process, 1)
    process.stop()
    assert "printed while loading" in caught.value.last_lines
    assert "no more data" in caught.value.last_lines[-1]


def test_it_ends_by_itself_when_its_agent_is_gone(tmp_path):
    command = [sys.executable, str(RUNNER), *LENET, "--controlled"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.stdout is not None
    while json.loads(process.stdout.readline())["event"] != "minibatch":
        pass
    process.stdin.close()
    assert json.loads(process.stdout.readlines()[-1])["reason"] == "stopped"
    assert process.wait(60) == 0


def test_an_interpreter_that_is_not_there_is_named():
    process = RunnerProcess(LENET, interpreter="/no/python3.8", limits=OURS)
    with pytest.raises(WorkloadFailed) as caught:
        process.start(1)
    assert "cannot start /no/python3.8" in caught.value.last_lines[-1]


def test_scratch_files_are_removed(tmp_path):
    before = set(Path("/tmp").glob("workload-*"))
    process = RunnerProcess(LENET, interpreter="/no/python3.8", limits=OURS)
    with pytest.raises(WorkloadFailed):
        process.start(1)
    assert {
        p for p in set(Path("/tmp").glob("workload-*")) - before if p.stat().st_uid == os.getuid()
    } == set()


def test_a_users_zip_trains_as_nobody_without_network(open_folder):
    """The whole sandbox with a real framework in it: limits that torch cannot live with would show here."""
    python = nobodys_python(open_folder)
    shutil.copy(RUNNER, open_folder)
    with zipfile.ZipFile(open_folder / "mine.zip", "w") as archive:
        archive.writestr("workload.py", NOISY)
    mine = unpack(inspect(open_folder / "mine.zip"), open_folder / "mine")
    arguments = runner_arguments({"kind": "training"}, 8, mine)
    process = RunnerProcess(arguments, python, Limits(), runner=open_folder / "runner.py")
    process.start(1)
    process.go()
    assert len(take(process, 3)) == 3
    process.stop()
