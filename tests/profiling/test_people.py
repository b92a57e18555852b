from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from profiling.errors import Conflict, Forbidden, InvalidInput, NotFound
from profiling.models import AuditEntry, Invitation
from profiling.permissions import role_of
from profiling.services.invitations import (
    invitation_accept,
    invitation_of,
    invitation_withdraw,
    person_invite,
)
from profiling.services.people import (
    person_close,
    person_drop_two_factor,
    person_link,
    person_open,
    person_set_role,
)
from profiling.tasks import look_after_people

PASSWORD = "a-long-enough-one"


def invite(ada: User, role: str = "engineer") -> str:
    return person_invite(email="New@Example.org", role=role, user=ada)[1]


def test_an_invitation_makes_one_person_of_its_role(ada):
    person = invitation_accept(text=invite(ada), name="nora", password=PASSWORD)
    assert (role_of(person), person.email) == ("engineer", "new@example.org")
    assert person.check_password(PASSWORD)
    assert AuditEntry.objects.latest("id").actor == person


def test_it_works_once(ada):
    text = invite(ada)
    invitation_accept(text=text, name="nora", password=PASSWORD)
    with pytest.raises(NotFound, match="used before"):
        invitation_accept(text=text, name="nora2", password=PASSWORD)


def test_a_refused_name_or_password_leaves_it_open(ada):
    text = invite(ada)
    for name, password in (("ada", PASSWORD), ("nora", "short"), ("no ra!", PASSWORD)):
        with pytest.raises(InvalidInput):
            invitation_accept(text=text, name=name, password=password)
    assert invitation_of(text)


def test_it_ends(ada):
    text = invite(ada)
    Invitation.objects.update(expires=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotFound, match="expired"):
        invitation_of(text)


def test_it_can_be_withdrawn(ada):
    invitation, text = person_invite(email="n@example.org", role="viewer", user=ada)
    invitation_withdraw(invitation=invitation, user=ada)
    with pytest.raises(NotFound):
        invitation_of(text)
    with pytest.raises(Conflict):
        invitation_withdraw(invitation=invitation, user=ada)


def test_only_the_newest_link_of_an_address_works(ada):
    first, second = invite(ada), invite(ada)
    assert invitation_of(second)
    with pytest.raises(NotFound):
        invitation_of(first)


def test_the_database_does_not_hold_its_text(ada):
    assert invite(ada) not in str(list(Invitation.objects.values()))


def test_who_is_here_is_not_invited_again(ada, vera):
    User.objects.filter(pk=vera.pk).update(email="vera@example.org")
    with pytest.raises(Conflict, match="vera has"):
        person_invite(email="VERA@example.org", role="viewer", user=ada)


@pytest.mark.parametrize("step", ["invite", "role", "close", "link", "two-factor"])
def test_it_takes_an_administrator(step, eng, vera):
    with pytest.raises(Forbidden, match="admin"):
        {
            "invite": lambda: invite(eng),
            "role": lambda: person_set_role(person=vera, role="admin", user=eng),
            "close": lambda: person_close(person=vera, user=eng),
            "link": lambda: person_link(person=vera, user=eng),
            "two-factor": lambda: person_drop_two_factor(person=vera, user=eng),
        }[step]()


def test_a_role_is_given_and_taken(ada, vera):
    person_set_role(person=vera, role="admin", user=ada)
    assert (role_of(vera), vera.is_staff) == ("admin", True)
    person_set_role(person=vera, role="viewer", user=ada)
    assert (role_of(User.objects.get(pk=vera.pk)), vera.is_staff) == ("viewer", False)
    assert AuditEntry.objects.latest("id").details == {"before": "admin", "after": "viewer"}
    with pytest.raises(InvalidInput, match="role is one of"):
        person_set_role(person=vera, role="king", user=ada)


def test_the_last_administrator_stays(ada):
    for step in (
        lambda: person_set_role(person=ada, role="viewer", user=ada),
        lambda: person_close(person=ada, user=ada),
    ):
        with pytest.raises(Conflict, match="only administrator left"):
            step()


def test_a_closed_account_and_its_tokens_open_nothing(ada, eng, browser, api):
    person_close(person=eng, user=ada)
    assert browser.get("/").status_code == 302
    assert api.get("/api/v1/runs/").status_code == 401
    with pytest.raises(Conflict, match="closed"):
        person_link(person=eng, user=ada)
    person_open(person=eng, user=ada)
    assert api.get("/api/v1/runs/").status_code == 200


@pytest.mark.parametrize("end", [person_close, lambda **who: person_set_role(role="viewer", **who)])
def test_who_may_no_longer_invite_leaves_no_link_behind(ada, eng, end):
    person_set_role(person=eng, role="admin", user=ada)
    text = invite(eng, "admin")
    end(person=eng, user=ada)
    with pytest.raises(NotFound):
        invitation_of(text)


def test_sessions_that_ended_are_forgotten(eng, browser):
    browser.get("/")
    look_after_people()
    assert Session.objects.count() == 1
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    look_after_people()
    assert not Session.objects.exists()
    assert not UserSession.objects.exists()


def test_who_lost_the_phone_is_let_in_again(ada, eng):
    Authenticator.objects.create(user=eng, type="totp", data={})
    person_drop_two_factor(person=eng, user=ada)
    assert not Authenticator.objects.exists()
