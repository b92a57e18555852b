"""An emulated board's physics in time: work done, heat, and what the sensors have noticed of it."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from profiling.board.emulation.demand import EmulatedWorkload, FloatArray
from profiling.board.emulation.law import Law
from profiling.board.emulation.power import AMBIENT_C, Parts
from profiling.board.emulation.timing import Timing
from profiling.knobs import Knobs

SENSOR_S = 0.43  # NVIDIA sets the INA3221 to average 512 samples, published every 430 ms
HEATING_S = 55.0  # time constant of the die and its sink
SETTLING_S = 0.55  # regulators and clocks after a switch: power is steady after some 2 s
WARM_UP = 7.0  # the first minibatch picks kernels and fills caches
AFTER_SWITCH = 1.25  # the first one in a new mode
MINIBATCH_NOISE = 0.015
SAMPLE_NOISE = 0.012


class VirtualClock:
    """Time that passes only when somebody waits, as fast as it can be computed.

    speed: virtual seconds per real one, for people who want to watch; None for no waiting at all.
    """

    def __init__(self, advance: Callable[[float], None], speed: float | None = None) -> None:
        self.time_s = 0.0
        self.speed = speed
        self._advance = advance

    def now(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self._advance(seconds)
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Real time for those who watch."""
        if self.speed:
            time.sleep(seconds / self.speed)


@dataclass(frozen=True)
class Minibatch:
    """One minibatch done at `end_s` of the board's clock; fetch_ms is the wait for data, within time_ms."""

    index: int
    end_s: float
    time_ms: float
    fetch_ms: float

    @property
    def compute_ms(self) -> float:
        return self.time_ms - self.fetch_ms


class Plant:
    """`knobs()` tells the mode in force; `advance` moves everything on by some seconds."""

    def __init__(self, law: Law, knobs: Callable[[], Knobs], seed: int) -> None:
        self.law, self.knobs = law, knobs
        self.random = np.random.default_rng([seed, 0xB0A2D])
        self.now, self.degrees = 0.0, AMBIENT_C + 4.0
        self.workload: EmulatedWorkload | None = None
        self.done: deque[Minibatch] = deque(maxlen=100_000)
        self.count = 0
        self._next: Minibatch | None = None
        self._switched_s, self._settling_from = -math.inf, np.zeros(6)
        self._mode: Knobs | None = None
        self._timed: Timing | None = None
        self._watts = np.zeros(6)
        self._segments: deque[tuple[float, float, FloatArray]] = deque()
        self.switched()

    def start(self, workload: EmulatedWorkload) -> None:
        """Begin training or inference; its first minibatch is the warm-up."""
        self.workload, self.count, self._next = workload, 0, None
        self.done.clear()
        self._settle()

    def stop(self) -> None:
        self.workload, self._next = None, None
        self._settle()

    def switched(self) -> None:
        """The knobs changed: what comes next is computed anew, and power takes its time to follow."""
        if self._mode != self.knobs():
            self._settle()

    def _settle(self) -> None:
        self._mode = self.knobs()
        self._switched_s, self._settling_from = self.now, self._watts
        modes = np.array([self._mode])
        self._timed = self.law.timing(modes, self.workload) if self.workload else None
        self._watts = self._steady()

    def _steady(self) -> FloatArray:
        parts = self.law.parts(np.array([self._mode]), self._timed, np.array([self.degrees]))
        return np.array(
            [parts.gpu[0], parts.cpu[0], parts.soc[0], parts.dram[0], parts.base[0], parts.lost[0]]
        )

    def advance(self, seconds: float) -> None:
        """Move on in steps no longer than a sensor's period."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            step = min(SENSOR_S, end - self.now)
            if self.workload:
                self._next = self._next or self._begin()
                step = min(step, max(self._next.end_s - self.now, 1e-6))
            self._step(step)

    def run_minibatch(self) -> Minibatch:
        """Work until one more minibatch is done, and return it."""
        if self.workload is None:
            raise ValueError("start a workload first")
        target = self.count + 1
        while self.count < target:
            self._next = self._next or self._begin()
            self.advance(max(self._next.end_s - self.now, 1e-6))
        return self.done[-1]

    def _begin(self) -> Minibatch:
        assert self._timed is not None
        factor = math.exp(MINIBATCH_NOISE * self.random.standard_normal())
        fresh = self._switched_s >= (self.done[-1].end_s if self.done else -math.inf)
        factor *= WARM_UP if self.count == 0 else AFTER_SWITCH if fresh else 1.0
        time_ms = float(self._timed.time_ms[0]) * factor
        fetch_ms = float(self._timed.stall_ms[0]) * factor
        return Minibatch(self.count, self.now + time_ms / 1000, time_ms, fetch_ms)

    def _step(self, seconds: float) -> None:
        old = math.exp(-(self.now - self._switched_s) / SETTLING_S)
        watts = self._watts + (self._settling_from - self._watts) * old
        self._segments.append((self.now, self.now + seconds, watts))
        while self._segments[0][1] < self.now - 3 * SENSOR_S:
            self._segments.popleft()
        steady_c = AMBIENT_C + self.law.silicon.thermal_c_per_w * watts.sum()
        before = self.degrees
        self.degrees += (steady_c - before) * (1 - math.exp(-seconds / HEATING_S))
        self.now += seconds
        if self._next and self.now >= self._next.end_s - 1e-9:
            self.done.append(self._next)
            self.count, self._next = self.count + 1, None
        if abs(self.degrees - before) > 0.02:
            self._watts = self._steady()

    @property
    def tick(self) -> int:
        """How often the sensors have published."""
        return math.floor(self.now / SENSOR_S)

    def sensed(self) -> Parts:
        """What the power sensors show: the mean of their last complete period, and their own noise."""
        start, end = (self.tick - 1) * SENSOR_S, self.tick * SENSOR_S
        spans = [(max(0.0, min(b, end) - max(a, start)), watts) for a, b, watts in self._segments]
        covered = sum(span for span, _ in spans)
        mean = sum(span * watts for span, watts in spans) / covered if covered > 0 else self._watts
        noise = np.random.default_rng([self.tick, 0x5E]).standard_normal(6)
        noisy = np.asarray(mean) * (1 + SAMPLE_NOISE * noise)
        return Parts(*(noisy[index : index + 1] for index in range(6)))

    @property
    def busy(self) -> tuple[float, float]:
        """(GPU busy share, CPU cores busy) at this moment."""
        if self._timed is None:
            return 0.0, 0.05
        timed = self._timed
        return float(timed.gpu_busy[0]), float(timed.main_busy[0] + timed.loader_cores[0])
