"""Every API error as problem JSON (RFC 9457)."""

from typing import Any

from django.http import JsonResponse
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler

from profiling.errors import LabError

CONTENT_TYPE = "application/problem+json"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | JsonResponse | None:
    if isinstance(error, LabError):
        return problem(error.status, error.code, error.message, error.extra)
    response = drf_exception_handler(error, context)
    if response is None:
        return None
    body = problem(response.status_code, *_words(error))
    for name in ("WWW-Authenticate", "Retry-After"):
        if name in response.headers:
            body[name] = response.headers[name]
    return body


def problem(status: int, code: str, detail: str, extra: dict[str, Any] | None = None) -> JsonResponse:
    body = {"type": "about:blank", "status": status, "code": code, "detail": detail, **(extra or {})}
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE)


def _words(error: Exception) -> tuple[str, str, dict[str, Any]]:
    if isinstance(error, ValidationError):
        return "invalid_input", "Some fields need mending; see errors.", {"errors": error.detail}
    if isinstance(error, APIException):
        return str(error.default_code), str(error.detail), {}
    return "not_found", "There is nothing here.", {}
