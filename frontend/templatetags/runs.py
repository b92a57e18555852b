"""What a run tells of itself: its numbers, flags, circumstances and corrections, in words."""

from typing import Any

from django import template

from frontend.correction_form import CORRECTION_LABELS
from frontend.templatetags.lab import unknown
from frontend.wording import in_words, plainly, significant

register = template.Library()

NOT_YET = {
    "pending": "not measured yet",
    "claimed": "being measured",
    "failed": "the run failed",
    "cancelled": "the run was cancelled",
}


@register.simple_tag
def of_run(run: Any, field: str, thousand: bool = False) -> str:
    """A number of a run, or a dash that says why it is not known."""
    value = getattr(run, field)
    if value is None:
        return unknown(run.unknowns.get(field) or NOT_YET.get(run.state, ""))
    if isinstance(value, int):
        return f"{value:,}"
    return significant(value / 1000 if thousand else value, 4)


FLAGS = {
    "throttled": "The board throttled while it was measured.",
    "unstable": "Times or power did not settle.",
    "short": "Fewer clean minibatches than wanted.",
    "few_power_samples": "Fewer distinct power samples than wanted.",
    "dvfs_on": "The board's governor chose the clocks.",
    "hot": "Hotter than the ceiling.",
}


@register.filter
def flags_in_words(run: Any) -> list[tuple[str, str]]:
    """Each flag with what it means, in the agent's own words where it gave some."""
    why = run.extra.get("why") or {}
    return [(flag, why.get(flag) or FLAGS.get(flag, "")) for flag in run.flags]


SHOWN_ELSEWHERE = {
    *("why", "window_start_s", "window_end_s", "untold"),
    *("upload", "file", "member", "sha256", "line"),
}


@register.filter
def circumstances(run: Any) -> list[tuple[str, str]]:
    """Provenance and what else the source told, in words; unknown with its reason."""
    untold = run.provenance.get("untold") or {}
    told = {**run.origin, **run.extra}
    return [
        (in_words(name), unknown(untold.get(name, "")) if value is None else plainly(value))
        for name, value in told.items()
        if name not in SHOWN_ELSEWHERE
    ]


@register.filter
def correction_label(name: str) -> str:
    return CORRECTION_LABELS.get(name, "Measured at")


@register.filter
def told_value(value: Any) -> str:
    """A value as it is stored, in words."""
    if value is None:
        return "unknown"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:,.6g}"
        if isinstance(value, float)
        else str(value)
    )
