"""Who has not been heard of for too long, by a clock that may be set back."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone


def silent(field: str, limit: timedelta) -> Q:
    """The last word is older than the limit, or from a future that keeps its speaker alive until then."""
    now = timezone.now()
    return Q(**{f"{field}__lt": now - limit}) | Q(**{f"{field}__gt": now + limit})
