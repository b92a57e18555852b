"""The course of a measurement: cool down, start, settle, watch until there is enough."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from profiling.agent.measured import distinct, is_steady
from profiling.agent.rules import Heartbeat, Progress, Rules
from profiling.agent.verdict import hottest_c
from profiling.board.base import Board, Reading
from profiling.errors import BoardError
from profiling.knobs import Knobs
from profiling.workloads.base import Minibatch, WorkloadProcess


@dataclass
class Window:
    """A stretch of clean minibatches; without a workload, of time alone."""

    start_s: float = math.nan
    end_s: float = math.nan
    clean: list[Minibatch] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s

    def add(self, minibatch: Minibatch) -> None:
        if not self.clean:
            self.start_s = minibatch.start_s
        self.end_s = minibatch.end_s
        self.clean.append(minibatch)


class Observation:
    """A measurement under way: what was read and heard so far, on the board's clock."""

    def __init__(
        self, board: Board, rules: Rules, heartbeat: Heartbeat, workload: WorkloadProcess | None = None
    ) -> None:
        self.board, self.rules, self.heartbeat, self.workload = board, rules, heartbeat, workload
        self.clock = board.clock
        self.began_s = self.entered_s = self.next_look_s = self.clock.now()
        self.phase = "cooling"
        self.phases_s: dict[str, float] = {}
        self.readings: list[Reading] = []
        self.minibatches = 0
        self.window: Window | None = None
        self.restless: str | None = None
        self._judged_looks = -1

    def prepare(self, knobs: Knobs | None) -> None:
        """Cool enough, workload ready, mode applied."""
        self._cool_down()
        self.enter("starting")
        cores = knobs.cores if knobs else None
        if self.workload and not self.workload.is_ready(cores):
            if knobs:
                # Loading a framework at the slowest clocks takes minutes that measure nothing; a board that
                # refuses its fastest ones may still do those asked for.
                with suppress(BoardError):
                    self.board.apply(self.board.ranges().maximum._replace(cores=knobs.cores))
            self.workload.start(cores, self._beat)
        if knobs:
            self.board.apply(knobs)

    def settle(self) -> None:
        """Discard the first minibatch, then wait until power is steady, or long enough."""
        self.enter("settling")
        if self.workload:
            self.workload.go()
            self._go_on(lambda: self.minibatches > 0)
        since_s, first = self.clock.now(), len(self.readings)
        limit_s = since_s + self.rules.settle_limit_s
        self._go_on(lambda: self._steady(since_s, first) or self.clock.now() >= limit_s)
        if not self._steady(since_s, first):
            self.restless = f"power had not settled after {self.rules.settle_limit_s:g} s"

    def collect(self) -> tuple[Window, Window]:
        """The window of the times and that of the power: one and the same unless the passes are apart."""
        self.enter("measuring")
        limit_s = self.clock.now() + self.rules.limit_s
        if self.rules.passes == "together":
            window = self._new_window()
            self._go_on(lambda: self._enough(window, limit_s, self._samples_missing))
            self._look()
            return window, window
        times = self._new_window()
        self._go_on(lambda: self._enough(times, limit_s), sampling=False)
        power = self._new_window()
        self._go_on(lambda: not self._samples_missing(power) or self.clock.now() >= limit_s)
        self._look()
        return times, power

    def watch_power(self) -> Window:
        """The window of a baseload run: enough power samples, no minibatch."""
        self.enter("measuring")
        window = Window(self.clock.now(), self.clock.now())
        limit_s = self.clock.now() + self.rules.limit_s

        def enough() -> bool:
            window.end_s = self.clock.now()
            return not self._samples_missing(window) or window.end_s >= limit_s

        self._go_on(enough)
        return window

    # --- the loop ---

    def _go_on(self, until: Callable[[], bool], sampling: bool = True) -> None:
        """Take minibatches as they come and look at the board at every period, until `until()`."""
        while not until():
            if self.clock.now() >= self.next_look_s:
                self._look(sampling)
            if self.workload is None:
                self.clock.sleep(max(0.0, self.next_look_s - self.clock.now()))
                continue
            minibatch = self.workload.next_minibatch(self.next_look_s)
            if minibatch:
                self._hear(minibatch)

    def _look(self, sampling: bool = True) -> None:
        if sampling:
            self.readings.append(self.board.read())
        self.next_look_s = max(self.next_look_s + self.rules.sample_period_s, self.clock.now())
        self._beat()

    def _beat(self) -> None:
        clean = len(self.window.clean) if self.window else 0
        latest = self.readings[-1] if self.readings else None
        self.heartbeat(Progress(self.phase, clean, len(self.readings), latest))

    def _hear(self, minibatch: Minibatch) -> None:
        self.minibatches += 1
        if self.window is not None and minibatch.start_s >= self.window_from_s:
            self.window.add(minibatch)

    def _new_window(self) -> Window:
        self.window_from_s = self.clock.now()
        self.window, self._judged_looks = Window(), -1
        return self.window

    def _steady(self, since_s: float, first: int) -> bool:
        power = [r.total_mw for r in self.readings[first:] if r.total_mw is not None]
        if self.clock.now() - since_s < self.rules.settle_s:
            return False
        if not power:
            return True
        recent = power[-self.rules.steady_samples :]
        return len(recent) == self.rules.steady_samples and is_steady(recent, self.rules.tolerance)

    def _enough(
        self, window: Window, limit_s: float, missing: Callable[[Window], bool] = lambda window: False
    ) -> bool:
        if self.clock.now() >= limit_s:
            return True
        if len(window.clean) < self.rules.minibatches or window.seconds < self.rules.window_s:
            return False
        return not missing(window)

    def _samples_missing(self, window: Window) -> bool:
        """Whether power can be read, and too few distinct samples of it lie in the window."""
        if not any(reading.total_mw is not None for reading in self.readings):
            return False
        # Asked after every minibatch, thousands a second maybe: count only when there is something new.
        looks = len(self.readings)
        if looks == self._judged_looks or self.readings[-1].time_s > window.end_s:
            return True
        self._judged_looks = looks
        return distinct(self.inside(window), self.rules.sensor_period_s) < self.rules.power_samples

    def inside(self, window: Window) -> list[Reading]:
        return [r for r in self.readings if window.start_s <= r.time_s <= window.end_s]

    def _cool_down(self) -> None:
        """Rest, workload held, while the board is above its ceiling. BoardError when it stays hot."""
        limit_s, ceiling_c = self.clock.now() + self.rules.cool_limit_s, self.rules.ceiling_c
        while True:
            reading = self.board.read()
            celsius = hottest_c([reading])
            if celsius is None or celsius <= ceiling_c:
                return
            if self.clock.now() >= limit_s:
                raise BoardError(
                    f"the board is still at {celsius:.0f} °C after {self.rules.cool_limit_s:g} s of rest; "
                    f"a run starts below {self.rules.ceiling_c:g} °C. Check its fan and surroundings."
                )
            ceiling_c = self.rules.cool_to_c
            self.heartbeat(Progress("cooling", 0, 0, reading))
            self.clock.sleep(self.rules.sample_period_s)

    def enter(self, phase: str) -> None:
        now = self.clock.now()
        self.phases_s[self.phase] = now - self.entered_s
        self.phase, self.entered_s = phase, now
