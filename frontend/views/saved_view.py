from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from frontend.guards import as_role
from profiling.models import SavedView
from profiling.services.saved_views import saved_view_forget, saved_view_keep


def _person(request: HttpRequest) -> User:
    return as_role(request, "viewer")


@require_POST
def saved_view_save(request: HttpRequest) -> HttpResponse:
    given = {name: request.POST.get(name, "") for name in ("page", "name", "query")}
    view = saved_view_keep(user=_person(request), **given)
    messages.success(request, f"Saved as {view}.")
    return redirect(f"{reverse(view.page)}?{view.query}")


@require_POST
def saved_view_delete(request: HttpRequest, pk: int) -> HttpResponse:
    user = _person(request)
    view = get_object_or_404(SavedView, pk=pk)
    saved_view_forget(view=view, user=user)
    messages.success(request, f"The view {view} is gone.")
    return redirect(f"{reverse(view.page)}?{view.query}")
