"""People come by invitation: an administrator makes a link, the invited choose a name and a password."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from profiling.errors import Conflict, InvalidInput, NotFound
from profiling.models import Invitation
from profiling.permissions import check_role
from profiling.services.audit import Action, audit
from profiling.services.catalog import ROLES
from profiling.services.checks import check_fields
from profiling.services.people import person_create

DAYS = 7


@transaction.atomic
def person_invite(*, email: str, role: str, user: User) -> tuple[Invitation, str]:
    """The invitation and the text of its link, which is known only now. An earlier link stops working."""
    check_role(user, "admin")
    if role not in ROLES:
        raise InvalidInput(f"A role is one of {', '.join(ROLES)}, not {role!r}.")
    email = email.strip().lower()
    if known := User.objects.filter(email__iexact=email, is_active=True).first():
        raise Conflict(f"{known.username} has the address {email} already.")
    _open().filter(email=email).update(withdrawn=timezone.now())
    text = Invitation.new_text()
    expires = timezone.now() + timedelta(days=DAYS)
    invitation = Invitation(
        email=email, role=role, digest=Invitation.digest_of(text), inviter=user, expires=expires
    )
    check_fields(invitation)
    invitation.save()
    audit(Action.PERSON_INVITE, invitation, user=user, role=role)
    return invitation, text


@transaction.atomic
def invitation_withdraw(*, invitation: Invitation, user: User) -> None:
    check_role(user, "admin")
    if not _open().filter(pk=invitation.pk).update(withdrawn=timezone.now()):
        raise Conflict(f"The invitation of {invitation} is used, expired or withdrawn already.")
    audit(Action.PERSON_UNINVITE, invitation, user=user)


def invitation_of(text: str) -> Invitation:
    invitation = _open().filter(digest=Invitation.digest_of(text)).first()
    if invitation is None:
        raise NotFound("This invitation was used before, has expired or was withdrawn. Ask for another.")
    return invitation


@transaction.atomic
def invitation_accept(*, text: str, name: str, password: str) -> User:
    invitation = invitation_of(text)
    person = person_create(name=name, password=password, role=invitation.role, email=invitation.email)
    if not _open().filter(pk=invitation.pk).update(accepted=timezone.now(), person=person):
        raise Conflict("This invitation has just been used.")
    audit(Action.PERSON_JOIN, person, user=person, role=invitation.role, invitation=invitation.pk)
    return person


def _open() -> QuerySet[Invitation]:
    return Invitation.objects.filter(withdrawn=None, accepted=None, expires__gt=timezone.now())
