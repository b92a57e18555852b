"""What measuring on would cost and bring, told on a predictor's card."""

from dataclasses import asdict
from typing import Any

import numpy as np

from modeling.core.active import outlook
from modeling.core.predictors.base import BasePredictor
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.selectors.references import Source

MORE = 10
# Who has measured this many does not ask what ten more would bring.
MEASURED_MOST = 200


def outlook_card(fitted: BasePredictor, target: Source) -> dict[str, Any] | None:
    """None where the method cannot tell, or nearly all is measured."""
    table, ranges = target.table, target.device_model.ranges
    ranks = ranges.ranks(table.knobs)
    several = len(np.unique(table.minibatch)) > 1
    few = 0 < len(table) <= MEASURED_MOST and len(table) + MORE <= ranges.mode_count
    if not isinstance(fitted, RooflinePredictor) or several or not few or (ranks < 0).any():
        return None
    belief, modes = fitted.workload_.belief, ranges.all_modes()
    ahead = outlook(belief, modes, ranks, table.time_ms, table.power_mw, MORE, fitted.seed)
    return {**asdict(ahead), "worthwhile": ahead.worthwhile, "said": str(ahead)}
