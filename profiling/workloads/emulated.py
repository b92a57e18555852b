"""A workload on an emulated board: its minibatches come out of the board's own virtual time."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from profiling.board.emulated import EmulatedBoard
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.workloads.base import Minibatch, WorkloadFailed, idle

LOADING_S = 8.0  # to start Python and load a framework


class EmulatedProcess:
    """A WorkloadProcess: waiting for it is what makes the emulated board's time pass."""

    def __init__(self, board: EmulatedBoard, workload: EmulatedWorkload) -> None:
        self.board, self.workload = board, workload
        self.facts: Mapping[str, Any] = {**asdict(workload), "emulated": True}
        self._cores: int | None = None
        self._started = False
        self._done: deque[Minibatch] = deque()

    def is_ready(self, cores: int | None) -> bool:
        return self._started and self._cores == cores

    def start(self, cores: int | None, waiting: Callable[[], None] = idle) -> None:
        if not self.is_ready(cores):
            waiting()
            self.board.clock.sleep(LOADING_S)
            self._started, self._cores = True, cores

    def go(self) -> None:
        if not self._started:
            raise WorkloadFailed("the workload was not started")
        self.board.start(self.workload)

    def pause(self) -> None:
        self.board.stop()
        self._done.clear()

    def next_minibatch(self, until_s: float) -> Minibatch | None:
        if not self._done:
            self.board.clock.sleep(max(0.0, until_s - self.board.clock.now()))
            self._done.extend(
                Minibatch(m.index, 0, m.end_s, m.time_ms, m.fetch_ms, m.compute_ms)
                for m in self.board.finished()
            )
        return self._done.popleft() if self._done else None

    def stop(self) -> None:
        self.pause()
        self._started = False
