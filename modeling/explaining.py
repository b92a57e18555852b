"""A plan in two sentences: why this mode, and what the risk is or what would change it."""

import math

from scipy.special import ndtri

from modeling.answers import PlannedMode, PlanQuestion, Quantity

CEILINGS = {
    "power_mw": ("the power limit", "W", 1000),
    "time_ms": ("the time limit of a minibatch", "ms", 1),
    "energy_mj": ("the energy limit of a minibatch", "J", 1000),
    "epoch_s": ("the time limit of an epoch", "min", 60),
    "epoch_energy_j": ("the energy limit of an epoch", "kJ", 1000),
}
# What the aim makes better, and the word for less of it.
AIMED = {
    "fastest": ("time_ms", "faster"),
    "leanest": ("power_mw", "leaner in power"),
    "least_energy": ("energy_mj", "leaner in energy"),
}
Z90 = float(ndtri(0.95))


def explanation(
    question: PlanQuestion, mode: PlannedMode, reason: str, beyond: PlannedMode | None
) -> list[str]:
    """Two sentences for a feasible choice."""
    return [f"{reason.rstrip('.')}{_risk(question, mode)}.", _change(question, mode, beyond)]


def _risk(question: PlanQuestion, mode: PlannedMode) -> str:
    name = tightest(question, mode)
    if name is None or mode.chance is None:
        return ""
    label = CEILINGS[name][0]
    if mode.power_mw.low is None:
        return f"; {label} binds, and the method cannot tell the risk"
    breaks = 1 - mode.chance
    shown = "less than 0.1 %" if breaks < 0.001 else f"{100 * breaks:.2g} %"
    accepted = f"{shown} of the {_pct(question.risk)} you accept"
    return f"; {label} is the closest, and the chance to break a limit is {accepted}"


def _pct(share: float) -> str:
    return f"{100 * share:g} %"


def tightest(question: PlanQuestion, mode: PlannedMode) -> str | None:
    """The ceiling with the least room above the mode, in its own standard deviations where known."""
    rooms = {}
    for name in CEILINGS:
        limit, each = getattr(question, name), getattr(mode, name)
        if limit is not None and each is not None:
            rooms[name] = math.log(limit / each.value) / (_log_sd(each) or 1.0)
    return min(rooms, key=rooms.__getitem__) if rooms else None


def _log_sd(each: Quantity) -> float | None:
    return None if each.high is None else math.log(each.high / each.value) / Z90


def _change(question: PlanQuestion, mode: PlannedMode, beyond: PlannedMode | None) -> str:
    if beyond is None:
        return "No mode beyond your limits serves this aim better; only another aim changes the choice."
    gain, raised = _gain(question.objective, mode, beyond), _raised(question, beyond)
    if not raised:
        return f"A higher risk than {_pct(question.risk)} would allow a mode that is {gain}."
    return f"Raising {' and '.join(raised)} would allow a mode that is {gain}."


def _raised(question: PlanQuestion, beyond: PlannedMode) -> list[str]:
    """The limits that the mode needs, at the risk accepted, where they are above those asked."""
    found = []
    for name, (label, unit, factor) in CEILINGS.items():
        limit = getattr(question, name)
        if limit is not None:
            needed = _cautious(getattr(beyond, name), question.risk / _count(question))
            if needed > limit:
                found.append(f"{label} to {raised_to(needed / factor):.4g} {unit}")
    return found


def raised_to(needed: float) -> float:
    """Three digits, upwards: a limit rounded down would not allow the mode."""
    step = 10.0 ** (math.floor(math.log10(needed)) - 2)
    return math.ceil(needed / step) * step


def _count(question: PlanQuestion) -> int:
    return sum(getattr(question, name) is not None for name in CEILINGS)


def _cautious(each: Quantity, risk: float) -> float:
    """The value that is exceeded with this chance only."""
    return each.value * math.exp(float(ndtri(1 - risk)) * (_log_sd(each) or 0.0))


def _gain(objective: str, mode: PlannedMode, beyond: PlannedMode) -> str:
    if objective not in AIMED:
        return "better by your aim"
    name, word = AIMED[objective]
    if getattr(mode, name) is None:
        return word
    less = 1 - getattr(beyond, name).value / getattr(mode, name).value
    return f"{100 * less:.2g} % {word}"
