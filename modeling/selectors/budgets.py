"""Round power budgets over the range of a board, to show what each would buy."""

import math

from modeling.answers import BudgetAnswer, PlanAnswer
from modeling.planning import answers_within
from modeling.selectors.landscape import Landscape

MOST_STEPS = 12
ROUND_STEPS_W = (0.5, 1, 2, 5, 10, 20, 50)


def other_budgets(*, land: Landscape, answer: PlanAnswer) -> list[BudgetAnswer]:
    """The answer's question under each of the round budgets and its own."""
    powers = round_budgets(land, answer.mode.minibatch)
    asked = answer.question.power_mw
    return answers_within(land, answer.question, sorted({*powers, *([asked] if asked else [])}))


def round_budgets(land: Landscape, minibatch: int) -> list[float]:
    """At most twelve, in mW, from one the leanest mode may keep to one the hungriest keeps."""
    power_w = land.prediction.power_mw[land.block(minibatch)] / 1000
    low, high = float(power_w.min()), float(power_w.max())
    step = next((step for step in ROUND_STEPS_W if (high - low) / step <= MOST_STEPS - 2), high - low)
    first, last = math.ceil(low / step), math.ceil(high / step)
    return [place * step * 1000 for place in range(first, last + 1)]
