"""How people, their browsers and what they did are written."""

import re
from datetime import datetime
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from frontend.wording import plainly
from profiling.permissions import role_of

register = template.Library()
HASH = re.compile(r"[0-9a-f]{64}")


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
    return [(name.replace("_", " "), shortened(plainly(value))) for name, value in details.items()]


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
