"""What a deadline, the sun or the enclosure leave to choose from."""

from dataclasses import replace

from modeling.answers import PlanAnswer
from modeling.planning import answer_on
from modeling.selectors.landscape import Landscape
from modeling.whatif import HOURS_A_DAY

MW_PER_W = 1000


def cheapest_by(*, land: Landscape, answer: PlanAnswer, epochs: float, deadline_s: float) -> PlanAnswer:
    """The mode of least energy for these epochs within the deadline, the question's other limits kept."""
    epoch_s = deadline_s / epochs
    asked = answer.question.epoch_s
    strictest = epoch_s if asked is None else min(asked, epoch_s)
    return answer_on(land, replace(answer.question, objective="least_energy", epoch_s=strictest))


def sustained_by(
    *, land: Landscape, answer: PlanAnswer, sun_wh: float | None, cooling_w: float | None
) -> PlanAnswer | None:
    """The best mode by the aim that can run day and night: on so many Wh a day, and no hotter than what the
    enclosure carries away, W; the question's other limits kept. None where neither is given.
    """
    ceilings = [
        sun_wh and sun_wh * MW_PER_W / HOURS_A_DAY,
        cooling_w and cooling_w * MW_PER_W,
        answer.question.power_mw,
    ]
    if not (sun_wh or cooling_w):
        return None
    strictest = min(filter(None, ceilings))
    return answer_on(land, replace(answer.question, power_mw=strictest))
