"""Workloads that misbehave, each a few lines of plain Python run as a real process."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from profiling.workloads.process import Patience, RunnerProcess
from profiling.workloads.sandbox import Limits, sandboxed

READY = """
import json, os, sys, time
def say(**event): os.write(1, (json.dumps(event) + "\\n").encode())
def minibatch(i, ms=1.0):
    say(event="minibatch", i=i, epoch=0, t=time.monotonic(), time_ms=ms, fetch_ms=0, compute_ms=ms)
say(event="start", torch="none")
say(event="ready")
sys.stdin.readline()
"""
PATIENT = Patience(start_s=60, minibatch_s=30, stop_s=0.3)


@pytest.fixture(scope="session")
def open_python() -> str:
    """An interpreter that the unprivileged user may execute too."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run(sandboxed([python, "-c", ""], Limits()), capture_output=True).returncode == 0:
            return python
    pytest.skip("no Python that the user nobody may execute")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder everybody may look into: pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def fake(open_folder: Path, open_python: str) -> Iterator[Callable[..., RunnerProcess]]:
    """fake(code): a process that says it is ready, waits for `go`, then runs `code`."""
    started: list[RunnerProcess] = []

    def make(code: str, limits: Limits | None = None, patience: Patience = PATIENT) -> RunnerProcess:
        script = open_folder / "fake.py"
        script.write_text(READY + code)
        started.append(RunnerProcess([], open_python, limits or Limits(), patience, script))
        return started[-1]

    yield make
    for process in started:
        process.stop()
