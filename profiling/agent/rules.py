"""How much measuring is enough, and what is told while it goes on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from profiling.board.base import Reading
from profiling.errors import InvalidInput

PASSES = Literal["together", "apart"]


@dataclass(frozen=True)
class Rules:
    """How much is enough. Seconds on the board's clock.

    minibatches, power_samples: clean ones to collect, over window_s at least and limit_s at most.
    sample_period_s: how often the sensors are read; sensor_period_s: how often they have news (an INA3221
    averages 430 ms). settle_s, settle_limit_s: the least and the most to wait for steady power after the
    first minibatch; steady_samples, tolerance: the sliding window whose halves must agree. spread: IQR /
    median of the times above which a run is unstable. passes: "apart" takes the times first, with no
    sensor read. ceiling_c, cool_to_c, cool_limit_s: hotter than the first, a board rests until it is at
    the second.
    """

    minibatches: int = 40
    power_samples: int = 10
    window_s: float = 2.0
    sample_period_s: float = 0.5
    sensor_period_s: float = 0.43
    settle_s: float = 1.5
    settle_limit_s: float = 20.0
    steady_samples: int = 4
    tolerance: float = 0.05
    spread: float = 0.25
    limit_s: float = 900.0
    passes: PASSES = "together"
    ceiling_c: float = 85.0
    cool_to_c: float = 70.0
    cool_limit_s: float = 600.0

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Rules":
        """The rules a sweep asks for, the others as they are. InvalidInput naming every one that is none."""
        known = {field.name for field in fields(cls)}
        faults = [f"{name} {value!r}" for name, value in options.items() if not _sound(name, value, known)]
        if faults:
            raise InvalidInput(f"The measuring rules cannot be {', '.join(faults)}.", errors=faults)
        return cls(**options)


@dataclass(frozen=True)
class Progress:
    """Where a measurement stands: phase "cooling", "starting", "settling" or "measuring"."""

    phase: str
    minibatches: int
    power_samples: int
    reading: Reading | None


# Called at every sample; whatever it raises (a cancelled run) ends the measurement and the workload.
Heartbeat = Callable[[Progress], None]


def _sound(name: str, value: Any, known: set[str]) -> bool:
    if name not in known:
        return False
    if name == "passes":
        return value in get_args(PASSES)
    whole = name in ("minibatches", "power_samples", "steady_samples")
    least = 2 if name == "steady_samples" else 0
    return (
        type(value) in ((int,) if whole else (int, float)) and least <= value < 1e6 and (whole or value > 0)
    )
