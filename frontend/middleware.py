"""What every page does before and after its view."""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from profiling.errors import UNSTORABLE, Forbidden, InvalidInput, LabError
from profiling.outages import outage_of

logger = logging.getLogger(__name__)

Answering = Callable[[HttpRequest], HttpResponse]
READING = ("GET", "HEAD")
TIME_ZONE_COOKIE = "timezone"
time_zones = cache(available_timezones)  # it reads a folder of hundreds of files


class SignedInMiddleware(LoginRequiredMiddleware):
    """Every page is for people who are signed in; where strangers may read, pages that show are open too.
    What takes a role asks for it itself (frontend/guards.py)."""

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if settings.ANONYMOUS_READING and request.method in READING:
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)


def reading(request: HttpRequest) -> dict[str, Any]:
    return {"anonymous_reading": settings.ANONYMOUS_READING}


class TimeZoneMiddleware:
    """The reader's own zone, which lab.js keeps in a cookie; the site's until it is known."""

    def __init__(self, get_response: Answering) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        told = unquote(request.COOKIES.get(TIME_ZONE_COOKIE, ""))
        with timezone.override(ZoneInfo(told) if told in time_zones() else None):
            return self.get_response(request)


class LabErrorMiddleware:
    """A LabError raised in a page becomes a page, or a toast when htmx asked."""

    def __init__(self, get_response: Answering) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if outage := outage_of(error):
            logger.error("%s", outage.message, exc_info=error)
            error = outage
        if isinstance(error, DataError):
            error = InvalidInput(UNSTORABLE)
        if not isinstance(error, LabError):
            return None
        if isinstance(error, Forbidden) and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        template = "frontend/_toast.html" if getattr(request, "htmx", False) else "frontend/error.html"
        return render(request, template, {"error": error}, status=error.status)
