"""A LabError raised in a page becomes a page, or a toast when htmx asked."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from profiling.errors import LabError


class LabErrorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, LabError):
            return None
        template = "frontend/_toast.html" if getattr(request, "htmx", False) else "frontend/error.html"
        return render(request, template, {"error": error}, status=error.status)
