"""How much measuring is enough, and what is told while it goes on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from profiling.board.base import Reading


@dataclass(frozen=True)
class Rules:
    """How much is enough. Seconds on the board's clock.

    minibatches, power_samples: clean ones to collect. sample_period_s: how often the sensors are read;
    sensor_period_s: how often they have news (an INA3221 averages 430 ms). settle_s, settle_limit_s: the
    least and the most to wait for steady power after the first minibatch; steady_samples, tolerance: the
    sliding window whose halves must agree. spread: IQR / median of the times above which a run is
    unstable. limit_s: longest window. passes: "apart" takes the times first, with no sensor read.
    ceiling_c, cool_to_c, cool_limit_s: hotter than the first, a board rests until it is at the second.
    """

    minibatches: int = 40
    power_samples: int = 10
    sample_period_s: float = 0.5
    sensor_period_s: float = 0.43
    settle_s: float = 1.5
    settle_limit_s: float = 20.0
    steady_samples: int = 4
    tolerance: float = 0.05
    spread: float = 0.25
    limit_s: float = 900.0
    passes: Literal["together", "apart"] = "together"
    ceiling_c: float = 85.0
    cool_to_c: float = 70.0
    cool_limit_s: float = 600.0


@dataclass(frozen=True)
class Progress:
    """Where a measurement stands: phase "cooling", "starting", "settling" or "measuring"."""

    phase: str
    minibatches: int
    power_samples: int
    reading: Reading | None


# Called at every sample; whatever it raises (a cancelled run) ends the measurement and the workload.
Heartbeat = Callable[[Progress], None]
