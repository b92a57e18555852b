import re

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from profiling.models import Invitation
from profiling.permissions import role_of
from profiling.services.audit import Action, audit

DUMMY = "django.core.mail.backends.dummy.EmailBackend"


@pytest.fixture
def office(ada) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def link_on(page: str) -> str:
    (link,) = re.findall(r'id="link-text">http://testserver(\S+?)</pre>', page)
    return link


def test_invited_by_mail_and_in(office):
    page = office.post("/people/", {"email": "n@example.org", "role": "engineer"}).content.decode()
    assert link_on(page) in mail.outbox[0].body
    assert mail.outbox[0].to == ["n@example.org"]
    client = Client()
    assert "invites n@example.org as engineer" in client.get(link_on(page)).content.decode()
    assert client.post(link_on(page), {"name": "nora", "password": "a-long-enough-one"}).url == "/"
    assert client.get("/").status_code == 200
    assert role_of(User.objects.get(username="nora")) == "engineer"
    assert Client().get(link_on(page)).status_code == 404


def test_without_a_mail_server_the_link_is_passed_on_by_hand(office, settings):
    settings.EMAIL_BACKEND = DUMMY
    page = office.post("/people/", {"email": "n@example.org", "role": "viewer"}).content.decode()
    assert "Send this link yourself" in page
    assert Client().get(link_on(page)).status_code == 200
    assert link_on(page) not in office.get("/people/").content.decode()


def test_a_bad_password_is_told_beside_its_field(office):
    page = office.post("/people/", {"email": "n@example.org", "role": "viewer"}).content.decode()
    answer = Client().post(link_on(page), {"name": "nora", "password": "short"})
    assert 'id="id_password_error"' in answer.content.decode()


def test_the_link_is_withdrawn(office):
    office.post("/people/", {"email": "n@example.org", "role": "viewer"})
    assert "n@example.org" in office.get("/people/").content.decode()
    office.post(f"/invitations/{Invitation.objects.get().pk}/withdraw/")
    assert "n@example.org" not in office.get("/people/").content.decode()


def test_a_role_is_changed_from_the_list(office, vera):
    office.post(f"/people/{vera.pk}/role/", {"role": "engineer"})
    assert role_of(User.objects.get(pk=vera.pk)) == "engineer"


def test_an_administrator_makes_a_password_link(office, vera):
    link = link_on(office.post(f"/people/{vera.pk}/link/").content.decode())
    client = Client()
    form = client.get(link).url
    client.post(form, {"password1": "another-long-one", "password2": "another-long-one"})
    assert User.objects.get(pk=vera.pk).check_password("another-long-one")


def test_an_account_is_closed_and_opened(office, vera):
    office.post(f"/people/{vera.pk}/close/")
    assert not User.objects.get(pk=vera.pk).is_active
    office.post(f"/people/{vera.pk}/open/")
    assert User.objects.get(pk=vera.pk).is_active
    assert office.post(f"/people/{vera.pk}/crown/").status_code == 404


def test_a_person_s_page_tells_what_they_did(office, ada, vera):
    audit(Action.SIGN_OUT, user=vera)
    page = office.get(f"/people/{vera.pk}/").content.decode()
    assert "signed out" in page
    assert "Make a password link" in page
    vera.is_active = False
    vera.save()
    assert "Open the account again" in office.get(f"/people/{vera.pk}/").content.decode()


def test_the_list_of_people_costs_the_same_however_many_there_are(office, django_assert_max_num_queries):
    for number in range(10):
        User.objects.create_user(f"p{number}")
    with django_assert_max_num_queries(8):
        office.get("/people/")


def lines_of(page: str) -> str:
    return page.partition("<tbody>")[2]


def test_the_log_is_filtered_by_the_address(office, ada, eng, board):
    audit(Action.DEVICE_CREATE, board, user=ada)
    audit(Action.SIGN_OUT, user=eng)
    audit(Action.MODE_APPLY, board, user=eng, mode={"cores": 6}, run=1)
    page = lines_of(office.get("/audit/", {"actor": "eng"}).content.decode())
    assert "signed out" in page
    assert "registered the board" not in page
    assert "applied a mode" not in page
    page = office.get("/audit/", {"action": "mode-apply"}).content.decode()
    assert "cores 6" in page


def test_a_day_that_is_none_is_told(office):
    assert "Enter a valid date" in office.get("/audit/", {"since": "yesterday"}).content.decode()


def test_the_log_costs_the_same_however_long_it_is(office, eng, django_assert_max_num_queries):
    for _ in range(20):
        audit(Action.SIGN_OUT, user=eng)
    with django_assert_max_num_queries(7):
        office.get("/audit/")
