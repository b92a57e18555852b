"""What a sweep will take, told before it starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from profiling.agent.expected import START_S, expected_s
from profiling.agent.rules import Rules
from profiling.asking import SweepQuestion
from profiling.knobs import Knobs
from profiling.modes import measuring_order, random_modes


@dataclass(frozen=True)
class Estimate:
    """Seconds on the board's own clock. seconds is None where a mode's time is not known; least_s then is
    what the protocol takes even of the quickest workload. unknown_times: of how many modes.

    reboots: cores and clocks are set while the board runs, so that no sweep needs one.
    """

    runs: int
    core_switches: int
    seconds: float | None
    least_s: float
    unknown_times: int
    reboots: int = 0


def expected_modes(question: SweepQuestion) -> list[Knobs]:
    """The modes in their order of measuring. Those of `active` are not known: random ones stand for them."""
    board = question.device
    if question.strategy == "active":
        return measuring_order(random_modes(board.ranges, question.count, question.seed))
    return measuring_order(question.first_modes())


def sweep_estimate(
    question: SweepQuestion, modes: Sequence[Knobs], time_ms: Sequence[float | None]
) -> Estimate:
    """time_ms: what is measured or predicted of each of `modes`, None where nothing is."""
    rules, start_s = Rules.from_options(question.rules), 0.0 if question.baseload else START_S
    times: list[float | None] = [0.0 for _ in modes] if question.baseload else list(time_ms)
    unknown = sum(time is None for time in times)
    least = expected_s(modes, [time or 0.0 for time in times], rules, start_s)
    groups = sum(1 for _ in groupby(modes, key=lambda knobs: knobs.cores))
    return Estimate(len(modes), max(0, groups - 1), None if unknown else least, least, unknown)
