"""The cheapest mode that is done in time."""

from dataclasses import replace

from modeling.answers import PlanAnswer
from modeling.planning import answer_on
from modeling.selectors.landscape import Landscape


def cheapest_by(*, land: Landscape, answer: PlanAnswer, epochs: float, deadline_s: float) -> PlanAnswer:
    """The mode of least energy for these epochs within the deadline, the question's other limits kept."""
    epoch_s = deadline_s / epochs
    asked = answer.question.epoch_s
    strictest = epoch_s if asked is None else min(asked, epoch_s)
    return answer_on(land, replace(answer.question, objective="least_energy", epoch_s=strictest))
