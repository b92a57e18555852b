"""How people, their browsers and what they did are written."""

import re
from datetime import datetime
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.utils.safestring import SafeString

from frontend.wording import plainly
from profiling.permissions import role_of

register = template.Library()
HASH = re.compile(r"[0-9a-f]{64}")
CALLED = {"bytes": "size", "sha256": "SHA-256"}
MOMENT = len("2026-11-21T10:00:00")


@register.filter
def moment(when: datetime) -> str:
    """To the second, in the reader's own zone."""
    here = timezone.localtime(when)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        here.isoformat(timespec="seconds"),
        f"{here:%Z}, {naturaltime(when)}",
        f"{here:%Y-%m-%d %H:%M:%S}",
    )


@register.filter
def role(person: Any) -> str:
    return role_of(person) or "viewer"


# Where a line of the audit log leads; what has no page of its own leads nowhere.
PAGES = ("run", "sweep", "upload", "predictor", "plan")


@register.filter
def audit_address(entry: Any) -> str:
    return reverse(f"{entry.kind}-detail", args=[entry.object_id]) if entry.kind in PAGES else ""


@register.filter
def told(details: dict[str, Any]) -> list[tuple[str, str]]:
    names = {name: CALLED.get(name, name.replace("_", " ")) for name in details}
    return [(names[name], shortened(in_short(name, value))) for name, value in details.items()]


def in_short(name: str, value: Any) -> str:
    """Only what is known; sizes and moments as on other pages."""
    if isinstance(value, dict):
        return plainly({part: each for part, each in value.items() if each not in (None, "", [], {})})
    if name == "bytes":
        return filesizeformat(value)
    when = parse_datetime(value) if isinstance(value, str) and len(value) > MOMENT else None
    return f"{timezone.localtime(when):%Y-%m-%d %H:%M}" if when else plainly(value)


def shortened(text: str) -> SafeString | str:
    """A hash by its beginning, the whole of it on hover."""
    return format_html('<code title="{0}">{1}…</code>', text, text[:12]) if HASH.fullmatch(text) else text


BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari", "curl", "python")  # the first that is named
SYSTEMS = ("Windows", "Android", "iPhone", "iPad", "Mac OS X", "Linux")
SPOKEN = {"Edg": "Edge", "OPR": "Opera", "Mac OS X": "macOS"}


@register.filter
def browser_name(user_agent: str) -> SafeString:
    """'Firefox on Linux', with the browser's own words on hover."""
    found = [next((name for name in names if name in user_agent), "") for names in (BROWSERS, SYSTEMS)]
    words = " on ".join(SPOKEN.get(name, name) for name in found if name) or "unknown browser"
    return format_html('<span title="{}">{}</span>', user_agent, words)
