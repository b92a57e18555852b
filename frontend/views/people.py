from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from frontend.forms import attempt
from frontend.guards import as_role, page_of
from frontend.people_forms import ROLE_WORDS, InvitationForm, JoinForm
from profiling.models import Invitation
from profiling.selectors.audit import audit_list
from profiling.selectors.people import invitation_list, people_list
from profiling.services.invitations import (
    invitation_accept,
    invitation_of,
    invitation_withdraw,
    person_invite,
)
from profiling.services.mail import mail_is_configured, mail_send
from profiling.services.people import (
    person_close,
    person_drop_two_factor,
    person_link,
    person_open,
    person_set_role,
)


@never_cache
def people_page(request: HttpRequest) -> HttpResponse:
    user = as_role(request, "admin")
    form = InvitationForm(request.POST or None)
    made = attempt(form, person_invite, user=user, **form.cleaned_data) if form.is_valid() else None
    context = {
        "form": InvitationForm() if made else form,
        "page": page_of(request, people_list()),
        "invitations": invitation_list(),
        "mail": mail_is_configured(),
        **(invited(request, *made) if made else {}),
    }
    return render(request, "frontend/people/list.html", context, status=422 if form.errors else 200)


def person_page(request: HttpRequest, pk: int) -> HttpResponse:
    as_role(request, "admin")
    person = get_object_or_404(people_list(), pk=pk)
    context = {"person": person, "entries": audit_list().filter(actor=person)[:12], "roles": ROLE_WORDS}
    return render(request, "frontend/people/detail.html", context)


def invited(request: HttpRequest, invitation: Invitation, text: str) -> dict[str, object]:
    """The one look at the link; mailed where there is a mail server."""
    link = request.build_absolute_uri(reverse("join", args=[text]))
    words = (
        f"{invitation.inviter} invites you to jetsonlab, as {invitation.role}.\n\n{link}\n\n"
        f"The link works once, until {invitation.expires:%Y-%m-%d %H:%M %Z}.\n"
    )
    sent = mail_send(to=invitation.email, subject="you are invited", text=words)
    return {"link": link, "link_for": f"{invitation} is invited", "sent": sent}


@require_POST
def invitation_end(request: HttpRequest, pk: int) -> HttpResponse:
    user = as_role(request, "admin")
    invitation_withdraw(invitation=get_object_or_404(Invitation, pk=pk), user=user)
    messages.success(request, "The invitation is withdrawn; its link no longer works.")
    return redirect("people")


STEPS: dict[str, tuple[Callable[..., None], str]] = {
    "close": (person_close, "The account of {} is closed: sessions and tokens have stopped working."),
    "open": (person_open, "The account of {} is open again."),
    "two-factor-off": (person_drop_two_factor, "{} signs in with the password alone."),
}


@require_POST
def person_step(request: HttpRequest, pk: int, step: str) -> HttpResponse:
    user, person = as_role(request, "admin"), get_object_or_404(User, pk=pk)
    if step not in STEPS:
        raise Http404(step)
    service, said = STEPS[step]
    service(person=person, user=user)
    messages.success(request, said.format(person))
    return redirect("person", pk)


@require_POST
def person_role(request: HttpRequest, pk: int) -> HttpResponse:
    user, person = as_role(request, "admin"), get_object_or_404(User, pk=pk)
    person_set_role(person=person, role=request.POST.get("role", ""), user=user)
    messages.success(request, f"{person} is {request.POST['role']} now.")
    return redirect("person", pk)


@never_cache
@require_POST
def person_password_link(request: HttpRequest, pk: int) -> HttpResponse:
    """The one look at a link with which the person chooses a new password."""
    user, person = as_role(request, "admin"), get_object_or_404(User, pk=pk)
    link = request.build_absolute_uri(person_link(person=person, user=user))
    return render(request, "frontend/people/link.html", {"person": person, "link": link})


@sensitive_post_parameters("password")
@login_not_required
@never_cache
def join_page(request: HttpRequest, text: str) -> HttpResponse:
    invitation = invitation_of(text)
    form = JoinForm(request.POST or None)
    person = attempt(form, invitation_accept, text=text, **form.cleaned_data) if form.is_valid() else None
    if person is not None:
        login(request, person, "django.contrib.auth.backends.ModelBackend")
        return redirect("home")
    context = {"form": form, "invitation": invitation}
    return render(
        request, "frontend/people/join.html", context
    )  # any other status would be logged, link and all
