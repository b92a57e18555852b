"""A board of one's own making, in virtual time: power, temperature and minibatches are what the test says."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from profiling.board.base import Reading
from profiling.errors import BoardError
from profiling.knobs import KnobRange, Knobs
from profiling.workloads.base import Minibatch, WorkloadFailed, idle
from tests.site_process import Site

MODE = Knobs(4, 1_000_000, 500_000, 2_000_000)
RANGES = KnobRange((2, 4), (500_000, 1_000_000), (250_000, 500_000), (2_000_000,))


@dataclass
class ManualClock:
    time_s: float = 100.0

    def now(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self.time_s += max(seconds, 1e-6)


@dataclass
class PaperBoard:
    """power(seconds since the mode was applied) -> mW, or None with `reason`."""

    power: Callable[[float], float | None] = lambda seconds: 10_000.0
    celsius: Callable[[float], float] = lambda seconds: 40.0
    alarms: tuple[str, ...] = ()
    gpu_khz: int | None = None
    mem_khz: int | None = None
    reason: str = "no sensor on paper"
    clock: ManualClock = field(default_factory=ManualClock)
    driver: str = "paper"
    emulated: bool = True
    applied: list[Knobs] = field(default_factory=list)
    since_s: float = 100.0
    reads: int = 0

    def ranges(self) -> KnobRange:
        return RANGES

    def current(self) -> Knobs:
        return self.applied[-1]

    def apply(self, knobs: Knobs) -> Knobs:
        self.applied.append(knobs)
        self.since_s = self.clock.now()
        return knobs

    def read(self) -> Reading:
        self.reads += 1
        seconds = self.clock.now() - self.since_s
        total = self.power(seconds)
        return Reading(
            time_s=self.clock.now(),
            rails_mw={"VDD_IN": total},
            total_mw=total,
            total_rule="VDD_IN",
            cpu_khz=(1_000_000,) * 4,
            gpu_khz=self.gpu_khz or MODE.gpu_khz,
            mem_khz=self.mem_khz or MODE.mem_khz,
            temperatures_c={"cpu-thermal": self.celsius(seconds)},
            alarms=self.alarms,
            unknown={} if total is not None else {"total_mw": self.reason},
        )

    def restore(self) -> None: ...


@dataclass
class PaperWorkload:
    """Minibatches of `time_ms(index)`; fails with `failure` after `lasts` of them."""

    clock: ManualClock
    time_ms: Callable[[int], float] = lambda index: 100.0
    lasts: int = 1_000_000
    told: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=lambda: {"torch": "paper"})
    cores: int | None = -1
    count: int = 0
    _end_s: float = 0.0
    _waiting: deque[Minibatch] = field(default_factory=deque)

    def is_ready(self, cores: int | None) -> bool:
        return self.cores == cores

    def start(self, cores: int | None, waiting: Callable[[], None] = idle) -> None:
        waiting()
        self.told.append(f"start {cores}")
        self.cores = cores

    def go(self) -> None:
        self.told.append("go")
        self._end_s = self.clock.now()

    def pause(self) -> None:
        self.told.append("pause")

    def stop(self) -> None:
        self.told.append("stop")

    def next_minibatch(self, until_s: float) -> Minibatch | None:
        if self.count >= self.lasts:
            raise WorkloadFailed("the workload ended on paper", ("last words",))
        end_s = self._end_s + self.time_ms(self.count) / 1000
        if end_s > until_s:
            self.clock.time_s = max(self.clock.time_s, until_s)
            return None
        self.clock.time_s, self._end_s = max(self.clock.time_s, end_s), end_s
        self.count += 1
        time_ms = self.time_ms(self.count - 1)
        return Minibatch(self.count - 1, 0, end_s, time_ms, 0.2 * time_ms, 0.8 * time_ms)


@pytest.fixture
def board() -> PaperBoard:
    return PaperBoard()


@pytest.fixture
def workload(board: PaperBoard) -> PaperWorkload:
    return PaperWorkload(board.clock)


__all__ = ["MODE", "BoardError", "PaperBoard", "PaperWorkload"]


@pytest.fixture
def site(tmp_path):
    """A real site; its agents are the test's to start."""
    site = Site(tmp_path)
    site.start_web()
    yield site
    site.close()
