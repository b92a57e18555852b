from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from frontend.guards import as_role, page_of
from profiling.audit_filter import AuditFilter
from profiling.models import AuditEntry
from profiling.selectors.audit import audit_list

APPLIED = AuditEntry.Action.MODE_APPLY


def audit_page(request: HttpRequest) -> HttpResponse:
    """A sweep applies thousands of modes, which would bury the rest: they show when asked for."""
    as_role(request, "admin")
    chosen = AuditFilter(request.GET, audit_list())
    entries = chosen.qs if request.GET.get("action") else chosen.qs.exclude(action=APPLIED)
    context = {"page": page_of(request, entries), "filter": chosen, "filtered": any(request.GET.values())}
    return render(request, "frontend/audit/list.html", context)
