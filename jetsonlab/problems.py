"""Every API error as problem JSON (RFC 9457)."""

import logging
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError
from django.db.models import ProtectedError
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from django.views.defaults import server_error
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler

from profiling.errors import UNSTORABLE, Conflict, InvalidInput, LabError, TooLarge
from profiling.outages import outage_of

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | JsonResponse | None:
    if known := _as_lab_error(error):
        return problem(known.status, known.code, known.message, known.extra)
    response = drf_exception_handler(error, context)
    if response is None:
        return None
    body = problem(response.status_code, *_words(error))
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in response.headers:
            body[name] = response.headers[name]
    return body


def problem(status: int, code: str, detail: str, extra: dict[str, Any] | None = None) -> JsonResponse:
    body = {"type": "about:blank", "status": status, "code": code, "detail": detail, **(extra or {})}
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE)


@csrf_exempt
@login_not_required
def no_such_address(request: HttpRequest, path: str = "") -> JsonResponse:
    """Django's own answer would be a page, or for a missing slash a redirect that drops what was posted."""
    hint = "" if request.path.endswith("/") else " Addresses end with a slash."
    return problem(404, "not_found", f"There is nothing at {request.path}.{hint} See /api/docs/.")


def fault(request: HttpRequest) -> HttpResponse:
    """A bug's answer: a page, or for programs a problem."""
    if not request.path.startswith("/api/"):
        return server_error(request)
    return problem(500, "fault", "Something broke at the server, and its log says what. Try again later.")


def _as_lab_error(error: Exception) -> LabError | None:
    if isinstance(error, LabError):
        return error
    if outage := outage_of(error):
        logger.error("%s", outage.message, exc_info=error)
        return outage
    if isinstance(error, RequestDataTooBig):
        return TooLarge("The form's fields are too large. Send large data as the file.")
    if isinstance(error, SuspiciousOperation | UnreadablePostError):
        return InvalidInput(f"The request cannot be read: {error}")
    if isinstance(error, DataError):
        return InvalidInput(UNSTORABLE)
    if isinstance(error, ProtectedError):
        return Conflict("Other things depend on this one. Remove them first.")
    return None


def _words(error: Exception) -> tuple[str, str, dict[str, Any]]:
    if isinstance(error, ValidationError):
        return "invalid_input", "Some fields need mending; see errors.", {"errors": error.detail}
    if isinstance(error, APIException):
        return str(error.default_code), str(error.detail), {}
    if isinstance(error, PermissionDenied):
        return "forbidden", "You may not do this.", {}
    return "not_found", "There is nothing here.", {}
