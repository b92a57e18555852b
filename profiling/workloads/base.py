"""What the protocol needs of a running workload, whether a real process or an emulated one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from profiling.errors import LabError


class WorkloadFailed(LabError):
    """The workload ended, hung or was stopped before it was measured; extra `last_lines`: its last words."""

    status = 422
    code = "workload_failed"

    def __init__(self, message: str, last_lines: tuple[str, ...] = ()) -> None:
        super().__init__(message, last_lines=list(last_lines))
        self.last_lines = last_lines


@dataclass(frozen=True, slots=True)
class Minibatch:
    """One minibatch. end_s: when it ended, on the board's clock; time_ms: end to end.

    fetch_ms: the visible wait for data; compute_ms: transfer, forward and backward until the device was
    done ("Characterizing training" section 4.5).
    """

    index: int
    epoch: int
    end_s: float
    time_ms: float
    fetch_ms: float
    compute_ms: float

    @property
    def start_s(self) -> float:
        return self.end_s - self.time_ms / 1000


def idle() -> None:
    """Nothing to do while waiting."""


class WorkloadProcess(Protocol):
    """One workload that can be held between two minibatches, so that a sweep starts it only once a group.

    facts: versions, device and settings for the run's provenance, known once started.
    """

    @property
    def facts(self) -> Mapping[str, Any]: ...

    def is_ready(self, cores: int | None) -> bool:
        """Whether it runs or is held already, on so many threads (None: on as many as it likes)."""

    def start(self, cores: int | None, waiting: Callable[[], None] = idle) -> None:
        """Be ready for `go` on so many threads; at once when it is already. WorkloadFailed.

        Loading a framework may take minutes: `waiting` is called now and then, and may raise to give up.
        """

    def go(self) -> None:
        """Run minibatch after minibatch."""

    def pause(self) -> None:
        """Hold after the minibatch at hand."""

    def next_minibatch(self, until_s: float) -> Minibatch | None:
        """The next one that ends before the clock shows `until_s`, else None then. WorkloadFailed."""

    def stop(self) -> None:
        """End it, by force if it must be; never an error, also when it never started."""
