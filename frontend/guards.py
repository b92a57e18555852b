"""What a view asks first."""

from typing import Any

from csp.decorators import csp_update
from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from profiling.permissions import check_role

PAGE_SIZE = 50
# Plotly's WebGL traces compile their draw calls with Function(); only the planner's page allows it.
webgl_allowed = csp_update({"script-src": ["'self'", "'unsafe-eval'"]})


def as_role(request: HttpRequest, role: str) -> User:
    check_role(request.user, role)
    assert isinstance(request.user, User)  # strangers have no role
    return request.user


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


def engineer(request: HttpRequest) -> User:
    return as_role(request, "engineer")


def page_of(request: HttpRequest, rows: Any) -> Page[Any]:
    """A page number that does not exist shows the nearest that does."""
    return Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
