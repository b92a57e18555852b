"""How numbers, times and unknowns are written, the same on every page."""

import re
from datetime import datetime
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from frontend.explore_form import REST
from frontend.plan_extras_form import KNOB_LABELS
from frontend.wording import in_words, plainly, significant
from modeling.answers import Quantity, Shortfall
from profiling.modes import STRATEGIES
from profiling.permissions import has_role

register = template.Library()
UNIT_APART = re.compile(r"(?<=\d)( )(?=(?:%|W|ms|J|kJ|s|min|h)(?!\w))")


def unknown(reason: str = "") -> SafeString:
    return format_html('<span class="unknown" title="{}">—</span>', reason or "not known")


@register.filter
def digits(value: Any, count: int = 3) -> str:
    """A name the template does not find comes as "": not known, and never 0."""
    return unknown() if value in (None, "") else significant(value, count)


@register.filter
def coarse(value: Any) -> str:
    """To two digits, nothing finer than a thousandth."""
    return "< 0.001" if value and 0 < value < 0.001 else digits(value, 2)


@register.filter
def thousandth(value: Any, count: int = 4) -> str:
    """mW to W, kHz to MHz, mJ to J."""
    return unknown() if value in (None, "") else significant(value / 1000, count)


@register.filter
def mhz(khz: int | None) -> str:
    return unknown() if khz is None else f"{khz / 1000:,.1f}"


@register.filter
def exact_mhz(khz: int | None) -> str:
    """'1134.75', as knobs are written out: not rounded, no zeros behind."""
    return unknown() if khz is None else f"{khz / 1000:.10g}"


@register.filter
def ghz(khz: int) -> str:
    return f"{khz / 1_000_000:.2f}"


@register.filter
def or_dash(value: Any, reason: str = "not known") -> Any:
    return unknown(reason) if value in (None, "") else value


@register.simple_tag
def quantity(each: Quantity | dict[str, Any] | None, unit: str, divisor: float = 1) -> str:
    """A predicted value with its 90 % interval, to three digits; of a fresh answer or a kept one."""
    if each is None:
        return unknown()
    if isinstance(each, dict):
        each = Quantity(**each)
    value = format_html('<span class="number">{} {}</span>', significant(each.value / divisor), unit)
    if each.low is None or each.high is None:
        return value
    ends = (significant(end / divisor) for end in (each.low, each.high))
    return format_html('{} <span class="interval" title="90 % interval">{} to {}</span>', value, *ends)


@register.simple_tag
def epoch_time(each: Quantity | dict[str, Any] | None) -> str:
    if each is None:
        return unknown()
    if isinstance(each, dict):
        each = Quantity(**each)
    unit, divisor = ("s", 1) if each.value < 120 else ("min", 60) if each.value < 7200 else ("h", 3600)
    return quantity(each, unit, divisor)


SHORTFALLS = {
    "power_mw": ("{} W", 1000),
    "time_ms": ("{} ms a minibatch", 1),
    "energy_mj": ("{} J a minibatch", 1000),
    "epoch_s": ("{} min an epoch", 60),
    "epoch_energy_j": ("{} kJ an epoch", 1000),
}


@register.filter
def shortfall(each: Shortfall | dict[str, Any]) -> str:
    if isinstance(each, dict):
        each = Shortfall(**each)
    words, divisor = SHORTFALLS[each.ceiling]
    limit, needed = (
        words.format(f"{each.limit / divisor:g}"),
        words.format(significant(each.needed / divisor)),
    )
    return f"No mode keeps {limit} at this risk. The closest needs {needed}."


@register.filter
def strategy(name: str) -> str:
    """How a sweep's modes were chosen, in words."""
    return {**STRATEGIES, "verify": "a plan verified", "sentinels": "a predictor checked for drift"}.get(
        name, name
    )


@register.filter
def key(mapping: dict[str, Any], name: str) -> Any:
    return mapping.get(name, "")


@register.filter
def facts(told: dict[str, Any]) -> list[tuple[str, str]]:
    """What a board told of itself, in words."""
    return [(in_words(name), unknown() if value is None else plainly(value)) for name, value in told.items()]


@register.filter
def change(pct: float) -> str:
    """'−31 %' or '+4.2 %'; a change too small to matter is not spelt out, one beyond tenfold is a factor."""
    if abs(pct) < 0.05:
        return "0 %" if pct == 0 else "< 0.05 %"
    if pct >= 1000:
        return f"{significant(1 + pct / 100, 2)} ×"
    sign = "−" if pct < 0 else "+"
    return f"{sign}{significant(abs(pct), 2)} %"


@register.filter
def signed(value: Any) -> str:
    """'−0.15' or '+2.3'."""
    if value in (None, ""):
        return unknown("the method states no uncertainty")
    return change(value).removesuffix(" %")


@register.filter
def ago(moment: datetime | None) -> str:
    if moment is None:
        return unknown("never")
    exact = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        f"{exact:%Y-%m-%d %H:%M:%S %Z}",
        naturaltime(moment),
    )


@register.filter
def duration(seconds: float | None) -> str:
    if seconds is None:
        return unknown()
    if seconds < 90:
        return f"{significant(seconds, 2)} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{significant(seconds / 3600, 3)} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


@register.filter
def percent(share: float | None, count: int = 2) -> str:
    if share is None:
        return unknown()
    if 0.9995 <= share < 1:
        return "> 99.9 %"  # never certain, nor impossible
    if share < 0.0005:
        return "< 0.1 %"
    return f"{significant(100 * share, count)} %"


@register.simple_tag
def is_guess(column: dict[str, Any] | None, option: str) -> bool:
    """Whether the option of the mapping step is what the column seems to be."""
    if not column:
        return False
    field, unit = column["field"], column["unit"] or ""
    return option == (f"{field}:{unit}" if field else "")


@register.simple_tag(takes_context=True)
def may(context: template.Context, role: str) -> bool:
    return has_role(context["request"].user, role)


@register.filter
def knob_label(name: str) -> str:
    return KNOB_LABELS[name]


@register.filter
def rest_words(name: str) -> str:
    return REST[name]


@register.filter
def mode_words(knobs: Any) -> str:
    """'8 · 1498 · 625 · 2133': cores, and the clocks in MHz."""
    return " · ".join([str(knobs[0]), *(f"{khz / 1000:.0f}" for khz in knobs[1:])])


@register.filter
def tied(sentence: str) -> str:
    """A number and its unit stay on one line."""
    return UNIT_APART.sub("\u00a0", str(sentence))


@register.filter
def with_minus(value: float) -> str:
    return f"{'−' if value < 0 else ''}{significant(abs(value))}"
