"""What somebody asks a board to measure, before it is a sweep."""

from dataclasses import dataclass, field
from typing import Any

from profiling.agent.rules import Rules
from profiling.errors import InvalidInput
from profiling.knobs import Knobs
from profiling.models import Device, Workload
from profiling.modes import chosen_modes
from profiling.selectors.runs import usable_runs

OPTIONS = ("count", "seed", "dvfs", "baseload", "rules", "aim")


@dataclass(frozen=True, kw_only=True)
class SweepQuestion:
    """modes: for strategy `list`. count: for `random`, and the most that `active` may measure.

    dvfs: the board's governor chooses the clocks, so there is one run only. baseload: nothing runs, the
    board's own power is measured. rules: those of profiling.agent.rules that shall differ.
    aim, of `active`: "all" modes, the time-power "front", or a power budget in mW.
    """

    device: Device
    workload: Workload
    strategy: str
    modes: list[Knobs] = field(default_factory=list)
    count: int = 20
    seed: int = 0
    dvfs: bool = False
    baseload: bool = False
    rules: dict[str, Any] = field(default_factory=dict)
    aim: str | float = "all"

    def __post_init__(self) -> None:
        if (self.strategy == "list") != bool(self.modes):
            raise InvalidInput("Strategy `list` needs modes, and only that one takes them.")
        if self.strategy == "active" and (self.dvfs or self.baseload):
            raise InvalidInput(
                "A predictor learns from set clocks and a running workload. Choose another strategy for "
                "DVFS or baseload."
            )
        Rules.from_options(self.rules)

    @property
    def options(self) -> dict[str, Any]:
        """As a sweep keeps them."""
        return {name: getattr(self, name) for name in OPTIONS}

    def first_modes(self) -> list[Knobs]:
        """What is measured first: everything, but for `active`, which begins at the fastest mode, or where
        something is known already with what the predictor chooses."""
        board = self.device
        if self.dvfs:
            return [board.ranges.maximum]
        if (
            self.strategy == "active"
            and usable_runs(workload=self.workload, device_model=board.device_model).exists()
        ):
            return []
        presets = board.device_model.presets
        return chosen_modes(self.strategy, board.ranges, presets, self.modes, self.count, self.seed)
