from datetime import datetime, timedelta

from django.utils import timezone


def time_left(*, since: datetime | None, done: int, total: int | None) -> timedelta | None:
    """At the pace so far; None while there is nothing to judge by."""
    if not (since and done and total):
        return None
    return (timezone.now() - since) / done * max(total - done, 0)
