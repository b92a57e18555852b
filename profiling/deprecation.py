"""Saying that a part of the API will go: in its answers' headers, and in its schema."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any

from django.utils.http import http_date
from drf_spectacular.utils import extend_schema

View = Callable[..., Any]


def deprecated(*, since: datetime, sunset: datetime, see: str) -> Callable[[View], View]:
    """Of a view's method. since, sunset: with their zone. see: the address that says what to use instead.

    Headers as in RFC 9745 (Deprecation, Link) and RFC 8594 (Sunset).
    """
    headers = {
        "Deprecation": f"@{int(since.timestamp())}",
        "Sunset": http_date(sunset.timestamp()),
        "Link": f'<{see}>; rel="deprecation"; type="text/html"',
    }

    def mark(method: View) -> View:
        @wraps(method)
        def marked(*args: Any, **kwargs: Any) -> Any:
            response = method(*args, **kwargs)
            for name, value in headers.items():
                response[name] = value
            return response

        return extend_schema(deprecated=True)(marked)

    return mark
