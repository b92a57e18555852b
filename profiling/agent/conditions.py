"""The circumstances of a measurement, for its provenance."""

import platform
from typing import Any

import profiling
from profiling.board.base import Board

TOLD = ("product", "jetpack", "l4t", "kernel", "governor", "fan_pwm")


def conditions(board: Board, sample_period_s: float) -> dict[str, Any]:
    """Software, governor and fan as the board tells them now; None where it cannot, and why in "untold".

    fan_pwm: the duty asked of the fan, 0..255. sample_period_s: how often the sensors are read.
    """
    told = board.describe()
    return {
        "agent": f"jetsonlab {profiling.__version__} on {platform.node()}",
        "python": platform.python_version(),
        "sample_period_s": sample_period_s,
        **{name: told.get(name) for name in TOLD},
        "untold": {name: why for name, why in told["unknown"].items() if name in TOLD},
    }
