"""claim -> measure -> spool -> deliver, until there is nothing left to do.

One loop with two faces: cli.py polls, celery.py is woken. A run in hand survives the server's absence,
since results are spooled before they are delivered, and the agent's own death, since the server gives a
silent agent's run to the next.
"""

import fcntl
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from profiling.agent.client import ServerAway, ServerClient, ServerRefused
from profiling.agent.conditions import conditions
from profiling.agent.measure import measure, measure_baseload
from profiling.agent.measured import MeasuredRun
from profiling.agent.rules import Progress, Rules
from profiling.agent.spool import Spool, SpoolFull
from profiling.board.base import Board
from profiling.errors import BoardError, Conflict, InvalidInput, LabError
from profiling.knobs import Knobs
from profiling.workloads.base import WorkloadFailed, WorkloadProcess

log = logging.getLogger(__name__)
HEARTBEAT_S = 2.0
WorkloadMaker = Callable[[Board, dict[str, Any]], WorkloadProcess]


class Cancelled(Exception):
    """The run in hand is not wanted any more; `stopping` when the agent itself is being stopped."""

    def __init__(self, stopping: bool) -> None:
        super().__init__("the agent was stopped" if stopping else "the run was cancelled")
        self.stopping = stopping


class Agent:
    """One board's agent. `stop` and `wake` are set from outside (a signal, a Celery message)."""

    def __init__(
        self, client: ServerClient, board: Board, spool: Spool, make_workload: WorkloadMaker
    ) -> None:
        self.client, self.board, self.spool, self.make_workload = client, board, spool, make_workload
        self.stop, self.wake = threading.Event(), threading.Event()
        self._workload: WorkloadProcess | None = None
        self._settings: dict[str, Any] = {}

    def end(self) -> None:
        """Stop after the minibatch in hand; its run goes back to the server."""
        self.stop.set()
        self.wake.set()

    def serve(self, poll_s: float) -> None:
        """Until `stop`: serve what there is, then wait for `wake` or poll_s seconds."""
        self._put_back()
        while not self.stop.is_set():
            try:
                self.serve_until_idle()
            except ServerAway as away:
                log.warning("%s; %d runs wait in the spool", away, len(self.spool))
            self.wake.wait(poll_s)
            self.wake.clear()

    def serve_until_idle(self) -> int:
        """Measure every pending run; how many. The board is put back afterwards."""
        served = 0
        try:
            self.deliver_waiting()
            while not self.stop.is_set() and (run := self.client.claim()):
                self.serve_run(run)
                served += 1
                self.deliver_waiting()
        finally:
            self._release()
        return served

    def deliver_waiting(self) -> None:
        """Oldest first. What the server refuses for good is logged and set down; the rest waits."""
        for name, body in list(self.spool.waiting()):
            try:
                self.client.deliver(name, body)
            except ServerRefused as refusal:
                if refusal.status in (401, 403):
                    raise
                log.error("run %s was refused and is dropped: %s", name, refusal)
            self.spool.delivered(name)

    def serve_run(self, run: dict[str, Any]) -> None:
        """Measure one claimed run; its result is in the spool afterwards, or the server has the reason."""
        try:
            measured = self._measure(run)
        except Cancelled as cancelled:
            if cancelled.stopping:
                self._give_back(run, str(cancelled), again=True)
            log.info("run %s: %s", run["id"], cancelled)
        except InvalidInput as error:
            self._give_back(run, error.message, again=False)
        except WorkloadFailed as error:
            self._give_back(run, "\n".join([error.message, *error.last_lines]), again=True)
        except LabError as error:
            self._give_back(run, error.message, again=True)
        else:
            self._keep(run, measured)

    def _measure(self, run: dict[str, Any]) -> MeasuredRun:
        options = run["options"]
        dvfs = options.get("dvfs", False)
        knobs = None if dvfs else Knobs(*(run[name] for name in Knobs._fields))
        rules = Rules.from_options(options.get("rules", {}))
        shared: dict[str, Any] = {
            "rules": rules,
            "heartbeat": Heartbeat(self, run["id"]),
            "conditions": conditions(self.board, rules.sample_period_s),
        }
        if options.get("baseload"):
            return measure_baseload(self.board, knobs, **shared)
        return measure(self.board, self._held_workload(run), knobs, minibatch=run["minibatch"], **shared)

    def _held_workload(self, run: dict[str, Any]) -> WorkloadProcess:
        """The process of the run before, when it is the same workload: starting one takes long."""
        settings = {**run["workload"], "minibatch": run["minibatch"]}
        if self._workload is None or settings != self._settings:
            if self._workload is not None:
                self._workload.stop()
            self._workload, self._settings = self.make_workload(self.board, settings), settings
        return self._workload

    def _release(self) -> None:
        if self._workload is not None:
            self._workload.stop()
            self._workload = None
        self._put_back()

    def _put_back(self) -> None:
        """A board that does not take its old clocks again can still be measured."""
        try:
            self.board.restore()
        except BoardError as error:
            log.error("%s", error.message)

    def _keep(self, run: dict[str, Any], measured: MeasuredRun) -> None:
        try:
            self.spool.put(run["id"], measured.delivery())
        except SpoolFull as full:
            log.error("%s", full)

    def _give_back(self, run: dict[str, Any], reason: str, *, again: bool) -> None:
        log.warning("run %s failed: %s", run["id"], reason)
        try:
            self.client.fail(run["id"], reason, again=again)
        except ServerAway as away:
            log.warning("%s; the server will notice the silence", away)
        except ServerRefused as refusal:
            log.error("the server did not take that: %s", refusal)


class Heartbeat:
    """Tells the server how a run goes, at most every HEARTBEAT_S seconds, and hears of its cancellation.

    A server that is away is no reason to stop measuring.
    """

    def __init__(self, agent: Agent, run: int) -> None:
        self.agent, self.run = agent, run
        self._due_s = 0.0

    def __call__(self, progress: Progress) -> None:
        if self.agent.stop.is_set():
            raise Cancelled(stopping=True)
        if time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + HEARTBEAT_S
        try:
            go_on = self.agent.client.heartbeat(self.run, self._status(progress))
        except ServerAway as away:
            log.warning("%s; measuring on", away)
            return
        if not go_on:
            raise Cancelled(stopping=False)

    def _status(self, progress: Progress) -> dict[str, Any]:
        reading = progress.reading
        return {
            "run": self.run,
            "phase": progress.phase,
            "minibatches": progress.minibatches,
            "power_samples": progress.power_samples,
            "reading": reading and reading.as_dict(),
        }


@contextmanager
def only_agent(state: Path) -> Iterator[None]:
    """Hold the board's lock; Conflict when another agent of this machine has it. A dead one holds none."""
    state.mkdir(parents=True, exist_ok=True)
    with (state / "agent.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(f"Another agent holds {lock.name}. A board has one agent at a time.") from error
        yield
