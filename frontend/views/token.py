from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from frontend.forms import TokenForm, attempt
from frontend.guards import as_role
from profiling.selectors.tokens import token_list
from profiling.services.tokens import token_create, token_revoke


@never_cache
def token_list_page(request: HttpRequest) -> HttpResponse:
    user = as_role(request, "viewer")
    form = TokenForm(request.POST or None)
    made = attempt(form, token_create, user=user, **form.cleaned_data) if form.is_valid() else None
    context = {
        "form": TokenForm() if made else form,
        "made": made,
        "tokens": token_list(user),
        "address": request.build_absolute_uri("/api/v1/"),
    }
    return render(request, "frontend/token/list.html", context, status=422 if form.errors else 200)


@require_POST
def token_end(request: HttpRequest, pk: int) -> HttpResponse:
    user = as_role(request, "viewer")
    token = get_object_or_404(token_list(user), pk=pk)
    token_revoke(token=token, user=user)
    messages.success(request, f"{token.name} is revoked. Programs that still use it are refused from now on.")
    return redirect("token-list")
