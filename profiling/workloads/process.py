"""runner.py as a real process: started in its sandbox, listened to, watched, ended by force if need be."""

import json
import math
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from profiling.workloads.base import Minibatch, WorkloadFailed, idle
from profiling.workloads.sandbox import Limits, clean_environment, hand_over, sandboxed

RUNNER = Path(__file__).with_name("runner.py")
LONGEST_LINE = 1 << 16
LAST_LINES = 30
MEMORY_CHECK_S = 0.5


@dataclass(frozen=True)
class Patience:
    """Seconds to wait before a silent workload counts as hung, or a stopped one is killed."""

    start_s: float = 300
    minibatch_s: float = 300
    stop_s: float = 10


@dataclass
class RunnerProcess:
    """A WorkloadProcess on this machine. `arguments` are runner.py's; `interpreter` need not be the agent's.

    Start it from the thread that goes on to measure: the workload dies with that thread.
    """

    arguments: Sequence[str]
    interpreter: str = sys.executable
    limits: Limits | None = field(default_factory=Limits)
    patience: Patience = field(default_factory=Patience)
    runner: Path = RUNNER

    def __post_init__(self) -> None:
        self.facts: Mapping[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._cores: int | None = None

    def is_ready(self, cores: int | None) -> bool:
        return self._process is not None and self._process.poll() is None and self._cores == cores

    def start(self, cores: int | None, waiting: Callable[[], None] = idle) -> None:
        if self.is_ready(cores):
            return
        self.stop()
        self._cores = cores
        self._spawn(cores)
        try:
            self._await_ready(waiting)
        except BaseException:
            self.stop()
            raise

    def go(self) -> None:
        self._heard_s = time.monotonic()
        self._say("go")

    def pause(self) -> None:
        """Also forgets what had been measured but not yet asked for."""
        self._say("pause")
        deadline = time.monotonic() + self.patience.minibatch_s
        while time.monotonic() < deadline:
            if self._event(deadline).get("event") == "paused":
                return
        raise self._failed("did not pause")

    def next_minibatch(self, until_s: float) -> Minibatch | None:
        while True:
            self._check_memory()
            event = self._event(min(until_s, self._heard_s + self.patience.minibatch_s))
            if event.get("event") == "minibatch":
                self._heard_s = time.monotonic()
                return minibatch_of(event)
            if event.get("event") == "done":
                raise self._failed(f"ended by itself ({event.get('reason')})")
            if not event and time.monotonic() >= self._heard_s + self.patience.minibatch_s:
                raise self._failed(f"reported no minibatch for {self.patience.minibatch_s:g} s")
            if time.monotonic() >= until_s:
                return None

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        with suppress(subprocess.TimeoutExpired):
            process.wait(self.patience.stop_s)
        # Loader workers may outlive the runner: the whole group goes.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for reader in self._readers:
            reader.join(timeout=5)
        for stream in (process.stdout, process.stderr):
            stream.close()  # type: ignore[union-attr]
        shutil.rmtree(self._scratch, ignore_errors=True)

    # --- inside -------------------------------------------------------------------------------

    def _spawn(self, cores: int | None) -> None:
        threads = [] if cores is None else ["--threads", str(cores)]
        command = [self.interpreter, str(self.runner), *self.arguments, *threads, "--controlled"]
        self._scratch = Path(tempfile.mkdtemp(prefix="workload-"))
        if self.limits is not None:
            hand_over(self._scratch, self.limits.user)
            command = sandboxed(command, self.limits)
        self._process = process = subprocess.Popen(
            command,
            cwd=self._scratch,
            env={**clean_environment(self._scratch), **thread_pools(cores)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._events: queue.Queue[dict[str, Any]] = queue.Queue()
        self._tail: deque[str] = deque(maxlen=LAST_LINES)
        self._heard_s = self._looked_s = time.monotonic()
        self._readers = [
            threading.Thread(target=self._read_events, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read_events(self, stream: IO[bytes]) -> None:
        while line := stream.readline(LONGEST_LINE):
            event = event_of(line)
            if event is None:
                self._tail.append(text_of(line))
            else:
                self._events.put(event)
        self._events.put({"event": "closed"})

    def _read_errors(self, stream: IO[bytes]) -> None:
        while line := stream.readline(LONGEST_LINE):
            self._tail.append(text_of(line))

    def _say(self, word: str) -> None:
        if self._process is None or self._process.stdin is None:
            raise self._failed("was not started")
        try:
            self._process.stdin.write(f"{word}\n".encode())
            self._process.stdin.flush()
        except OSError:
            self._event(time.monotonic() + 1)
            raise self._failed("has gone") from None

    def _event(self, until_s: float) -> dict[str, Any]:
        """The next event before `until_s`, else {}; WorkloadFailed when the workload has failed."""
        try:
            event = self._events.get(timeout=max(0.0, until_s - time.monotonic()))
        except queue.Empty:
            return {}
        if event["event"] == "error":
            self._tail.extend(str(line) for line in event.get("trace", ()))
            raise self._failed(f"{event.get('kind')}: {event.get('message')}")
        if event["event"] == "closed":
            raise self._failed(self._ending())
        return event

    def _await_ready(self, waiting: Callable[[], None]) -> None:
        deadline = time.monotonic() + self.patience.start_s
        while time.monotonic() < deadline:
            event = self._event(min(deadline, time.monotonic() + MEMORY_CHECK_S))
            self._check_memory()
            waiting()
            if event.get("event") == "start":
                self.facts = {name: value for name, value in event.items() if name != "event"}
            if event.get("event") == "ready":
                return
        raise self._failed(f"was not ready after {self.patience.start_s:g} s")

    def _check_memory(self) -> None:
        now = time.monotonic()
        if self.limits is None or self._process is None or now - self._looked_s < MEMORY_CHECK_S:
            return
        self._looked_s = now
        used = group_memory_bytes(self._process.pid)
        if used > self.limits.memory_bytes:
            os.killpg(self._process.pid, signal.SIGKILL)
            limit = self.limits.memory_bytes
            raise self._failed(f"used {used >> 20} MiB of memory, its limit is {limit >> 20} MiB")

    def _ending(self) -> str:
        code = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(5)
        self._readers[1].join(timeout=1)
        if code is None:
            return "closed its output without ending"
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended without a word, exit code {code}"

    def _failed(self, what: str) -> WorkloadFailed:
        return WorkloadFailed(f"the workload {what}" if what[:1].islower() else what, tuple(self._tail))


def thread_pools(cores: int | None) -> dict[str, str]:
    """Pools that open before torch is told would outnumber the cores."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {} if cores is None else dict.fromkeys(names, str(cores))


def text_of(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\n")[:500]


def event_of(line: bytes) -> dict[str, Any] | None:
    """A line of the runner as a dict with a str "event", or None for anything else a program may print."""
    if b"\\u0000" in line:  # no database keeps it
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def minibatch_of(event: Mapping[str, Any]) -> Minibatch:
    """WorkloadFailed when a field is absent, not a number, or negative: such times would poison a median."""
    try:
        times = [float(event[name]) for name in ("t", "time_ms", "fetch_ms", "compute_ms")]
        minibatch = Minibatch(int(event["i"]), int(event["epoch"]), *times)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise WorkloadFailed(f"the workload reported a minibatch that is none: {event}") from None
    if not all(math.isfinite(value) and value >= 0 for value in times):
        raise WorkloadFailed(f"the workload reported an impossible time: {event}")
    return minibatch


def group_memory_bytes(pid: int) -> int:
    """Resident memory of a process and all its descendants, shared pages counted once a process."""
    total, waiting = 0, [pid]
    while waiting:
        process = Path("/proc") / str(waiting.pop())
        with suppress(OSError, ValueError, IndexError):
            total += int((process / "statm").read_text().split()[1])
            for children in process.glob("task/*/children"):
                waiting += [int(child) for child in children.read_text().split()]
    return total * os.sysconf("SC_PAGE_SIZE")
