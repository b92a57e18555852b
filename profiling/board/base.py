"""What every board can do, and what its sensors say at one moment."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from profiling.errors import InvalidInput
from profiling.knobs import KnobRange, Knobs


class Clock(Protocol):
    """Time as the board lives it: a real board's is the machine's, an emulated one's is virtual."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> float:
        """Seconds that never run backwards, whatever the time server does to the wall clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True)
class Reading:
    """One look at every sensor. Unknown is None (or absent), and `unknown` says why, by the same name.

    time_s: the board's clock. rails_mw: each power rail in mW, under the board's own label.
    total_mw: the module's power by `total_rule`, the rails added, as text. online: cores in use.
    cpu_khz: one clock a core, None where the core is off or its clock unknown. utilisation: 0..100 %, by
    "cpu0", "cpu1", …, "gpu". temperatures_c: by zone. alarms: what throttles now, in the kernel's words;
    such a sample does not show the mode's own power.
    """

    time_s: float
    rails_mw: dict[str, float | None] = field(default_factory=dict)
    total_mw: float | None = None
    total_rule: str = ""
    online: int = 0
    cpu_khz: tuple[int | None, ...] = ()
    gpu_khz: int | None = None
    mem_khz: int | None = None
    utilisation: dict[str, float] = field(default_factory=dict)
    temperatures_c: dict[str, float | None] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()
    unknown: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Reading":
        """The inverse of `as_dict`, after a trip through JSON."""
        return cls(**{**values, "cpu_khz": tuple(values["cpu_khz"]), "alarms": tuple(values["alarms"])})


class Board(Protocol):
    """A board whose knobs can be turned and whose sensors can be read.

    `emulated` marks every number it yields; `driver` is the word stored with a run.
    """

    @property
    def driver(self) -> str: ...

    @property
    def emulated(self) -> bool: ...

    @property
    def clock(self) -> Clock: ...

    def ranges(self) -> KnobRange:
        """The values this board's own tables allow."""

    def current(self) -> Knobs:
        """The knobs in force: cores online, and the clocks the kernel is held to."""

    def apply(self, knobs: Knobs) -> Knobs:
        """Turn the knobs, read them back, return what is in force.

        InvalidInput for a value off the tables; BoardError when the kernel settled elsewhere.
        """

    def read(self) -> Reading:
        """Look at every sensor; one that fails is None with a reason, and never an error."""

    def restore(self) -> None:
        """Put back everything `apply` ever changed, as it was found; also after a crash."""

    def describe(self) -> Mapping[str, Any]:
        """Tables, software, stock modes and rails, JSON-able; None where unknown, and why in "unknown"."""


def check_legal(knobs: Knobs, ranges: KnobRange) -> None:
    """InvalidInput naming the first knob whose value is not in the board's table."""
    try:
        ranges.rank(knobs)
    except ValueError as error:
        raise InvalidInput(f"this board cannot do that: {error}") from error
