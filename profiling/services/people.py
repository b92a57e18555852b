from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from profiling.errors import Conflict, InvalidInput
from profiling.models import Invitation
from profiling.permissions import check_role, role_of
from profiling.services.audit import Action, audit
from profiling.services.catalog import ROLES
from profiling.services.checks import check_fields


@transaction.atomic
def person_create(*, name: str, password: str, role: str, email: str = "") -> User:
    """A person of one role; administrators may use the admin pages."""
    person = User(username=name, email=email)
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages), errors={"password": error.messages}) from error
    person.set_password(password)
    check_fields(person)
    person.save()
    _give_role(person, role)
    return person


@transaction.atomic
def person_set_role(*, person: User, role: str, user: User) -> None:
    check_role(user, "admin")
    _check_not_last(person, role)
    before = role_of(person)
    _give_role(person, role)
    if role != "admin":
        _withdraw_invitations(person)
    audit(Action.PERSON_ROLE, person, user=user, before=before, after=role)


@transaction.atomic
def person_close(*, person: User, user: User) -> None:
    """Sessions, tokens and the links of invitations stop at once; what the person made stays theirs."""
    check_role(user, "admin")
    _check_not_last(person, "")
    person.is_active = False
    person.save(update_fields=["is_active"])
    _withdraw_invitations(person)
    audit(Action.PERSON_CLOSE, person, user=user)


@transaction.atomic
def person_open(*, person: User, user: User) -> None:
    check_role(user, "admin")
    person.is_active = True
    person.save(update_fields=["is_active"])
    audit(Action.PERSON_OPEN, person, user=user)


def person_link(*, person: User, user: User) -> str:
    """The address of a page where the person chooses a new password."""
    check_role(user, "admin")
    if not person.is_active:
        raise Conflict(f"The account of {person} is closed. Open it first.")
    audit(Action.PERSON_LINK, person, user=user)
    return reset_address(person=person)


@transaction.atomic
def person_drop_two_factor(*, person: User, user: User) -> None:
    """For one who lost phone and recovery codes."""
    check_role(user, "admin")
    Authenticator.objects.filter(user=person).delete()
    audit(Action.TWO_FACTOR_OFF, person, user=user)


def reset_address(*, person: User) -> str:
    """Works once, for a day."""
    key = default_token_generator.make_token(person)
    return reverse("account_reset_password_from_key", args=[user_pk_to_url_str(person), key])


def sessions_forget() -> None:
    """Those that have expired: the list that people see drops them by itself, the table does not."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()


def _withdraw_invitations(person: User) -> None:
    """One who may no longer invite could come in again by a link made before."""
    Invitation.objects.filter(inviter=person, accepted=None, withdrawn=None).update(withdrawn=timezone.now())


def _give_role(person: User, role: str) -> None:
    if role not in ROLES:
        raise InvalidInput(f"A role is one of {', '.join(ROLES)}, not {role!r}.")
    person.groups.remove(*Group.objects.filter(name__in=ROLES))
    person.groups.add(Group.objects.get_or_create(name=role)[0])
    person.is_staff = person.is_superuser = role == "admin"
    person.save(update_fields=["is_staff", "is_superuser"])


def _check_not_last(person: User, role: str) -> None:
    others = User.objects.filter(is_active=True, is_superuser=True).exclude(pk=person.pk)
    if role != "admin" and person.is_superuser and not others.exists():
        raise Conflict(f"{person} is the only administrator left. Make another one first.")
