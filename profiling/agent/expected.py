"""How long a sweep will take, told before it starts: the protocol's own arithmetic, no measurement."""

from collections.abc import Sequence
from itertools import groupby

from profiling.agent.rules import Rules
from profiling.knobs import Knobs

# To start Python, load a framework and build a network at a board's fastest clocks.
START_S = 20.0
# The first minibatch picks kernels and fills caches; how much longer it takes differs widely.
FIRST_MINIBATCH = 5.0


def expected_s(
    modes: Sequence[Knobs], time_ms: Sequence[float], rules: Rules | None = None, start_s: float = START_S
) -> float:
    """Seconds to measure `modes` in this order, given a guess of each mode's minibatch time in ms.

    The workload is started once for each run of modes with equal core counts.
    """
    rules = rules or Rules()
    groups = sum(1 for _ in groupby(modes, key=lambda knobs: knobs.cores))
    return groups * start_s + sum(mode_s(ms, rules) for ms in time_ms)


def mode_s(time_ms: float, rules: Rules) -> float:
    """Seconds for one mode: first minibatch, settling, then minibatches or samples, what takes longer."""
    settling = max(rules.settle_s, rules.steady_samples * rules.sample_period_s)
    sampling = rules.power_samples * max(rules.sample_period_s, rules.sensor_period_s)
    working = max(rules.window_s, (rules.minibatches + 0.5) * time_ms / 1000)
    window = min(rules.limit_s, max(sampling, working) if rules.passes == "together" else sampling + working)
    return FIRST_MINIBATCH * time_ms / 1000 + settling + window
