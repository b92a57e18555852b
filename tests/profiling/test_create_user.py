import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from profiling.permissions import role_of

pytestmark = pytest.mark.django_db


def create(*words: str) -> str:
    out = io.StringIO()
    call_command("create_user", *words, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(("role", "staff"), [("viewer", False), ("engineer", False), ("admin", True)])
def test_a_person_gets_a_role_and_a_password_that_works(role, staff):
    said = create("mina", "--role", role, "--random")
    user = User.objects.get(username="mina")
    assert (role_of(user), user.is_staff) == (role, staff)
    assert user.check_password(said.strip().rsplit(" ", 1)[1])


def test_the_password_comes_through_a_pipe(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("a-long-password\n"))
    assert "password" not in create("mina")
    assert User.objects.get().check_password("a-long-password")


@pytest.mark.parametrize("password", ["short", "password123"])
def test_a_weak_password_is_refused(monkeypatch, password):
    monkeypatch.setattr("sys.stdin", io.StringIO(password))
    with pytest.raises(CommandError, match="password"):
        create("mina")


def test_a_name_is_taken_once(eng):
    with pytest.raises(CommandError, match="already exists"):
        create("eng", "--random")
