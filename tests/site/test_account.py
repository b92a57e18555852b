"""Signing in, the second factor, passwords, sessions: allauth's machinery behind our pages."""

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core import mail
from django.test import Client

from profiling.services.people import reset_address

PASSWORD = "eng-long-password"
HALF_MINUTE = 59_000_000


def sign_in(client: Client, password: str = PASSWORD, name: str = "eng", **extra: str):
    return client.post("/login/", {"username": name, "password": password}, **extra)


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, HALF_MINUTE))


@pytest.fixture(autouse=True)
def the_half_minute_stands_still(monkeypatch):
    counters = "allauth.mfa.totp.internal.auth.yield_hotp_counters_from_time"
    monkeypatch.setattr(counters, lambda: iter([HALF_MINUTE]))


@pytest.fixture
def here(eng) -> Client:
    """A browser that Eng has typed the password into."""
    client = Client()
    sign_in(client)
    return client


@pytest.fixture
def secret(here):
    """Of the authenticator app that Eng has just set up."""
    assert here.post("/login/again/", {"password": PASSWORD}).status_code == 302
    secret = here.get("/two-factor/app/").context["form"].secret
    assert here.post("/two-factor/app/", {"code": code_of(secret)}).url == "/two-factor/codes/"
    return secret


def test_the_right_password_signs_in_and_out(eng):
    client = Client()
    assert sign_in(client).url == "/"
    assert client.post("/logout/").url == "/login/"
    assert client.get("/").status_code == 302


def test_signing_in_leads_to_where_one_wanted_to_go(eng):
    client = Client()
    asked = client.get("/runs/?cores=2")
    page = client.get(asked.url).content.decode()
    assert 'value="/runs/?cores=2"' in page
    sent = client.post("/login/", {"username": "eng", "password": PASSWORD, "next": "/runs/?cores=2"})
    assert sent.url == "/runs/?cores=2"


def test_after_too_many_wrong_passwords_even_the_right_one_waits(eng):
    for number in range(10):
        sign_in(Client(), f"wrong {number}", "ENG" if number % 2 else "eng")
    assert "Wait 5 minutes" in sign_in(Client()).content.decode()


def test_others_may_still_sign_in(eng, vera):
    for number in range(10):
        sign_in(Client(), f"wrong {number}")
    assert sign_in(Client(), "vera-long-password", "vera").status_code == 302


def test_one_address_cannot_try_all_names(eng, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "3/5m/ip"}
    for name in ("a", "b", "c"):
        sign_in(Client(), "guess", name)
    assert sign_in(Client()).status_code == 200
    assert sign_in(Client(), REMOTE_ADDR="10.0.0.2").status_code == 302


def test_a_forged_address_does_not_help(eng, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "3/5m/ip"}
    for number in range(3):
        sign_in(Client(), "guess", headers={"X-Forwarded-For": f"10.0.0.{number}"})
    assert sign_in(Client(), headers={"X-Forwarded-For": "10.0.0.9"}).status_code == 200


def test_too_many_requests_get_a_page_of_their_own(eng, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login": "1/5m/ip"}
    sign_in(Client())
    answer = sign_in(Client())
    assert answer.status_code == 429
    assert "Wait a few minutes" in answer.content.decode()


def test_nobody_signs_up_by_themselves(client):
    assert client.get("/signup/").status_code == 404


def test_with_the_second_factor_a_password_is_not_enough(secret):
    client = Client()
    assert sign_in(client).url == "/login/code/"
    assert client.get("/").status_code == 302
    assert "Incorrect code" in client.post("/login/code/", {"code": "000000"}).content.decode()
    assert client.post("/login/code/", {"code": code_of(secret)}).url == "/"
    assert client.get("/").status_code == 200


def test_a_code_that_was_overlooked_works_once(secret):
    code = code_of(secret)
    for status in (302, 200):
        client = Client()
        sign_in(client)
        assert client.post("/login/code/", {"code": code}).status_code == status


def test_a_recovery_code_works_once(secret, here):
    code = here.get("/two-factor/codes/").context["unused_codes"][0]
    for expected in (302, 200):
        client = Client()
        sign_in(client)
        assert client.post("/login/code/", {"code": code}).status_code == expected


def test_the_database_does_not_hold_the_secret(secret):
    assert secret not in str(list(Authenticator.objects.values_list("data", flat=True)))


def test_the_admin_asks_for_the_second_factor_too(ada):
    assert Client().get("/admin/").url.startswith("/admin/login/")
    assert Client().get("/admin/login/").url.startswith("/login/")


def test_it_is_turned_off_again(secret, here):
    assert here.post("/two-factor/app/off/").url == "/two-factor/"
    assert not Authenticator.objects.exists()


def test_turning_it_on_asks_for_the_password_once_more(here):
    assert here.get("/two-factor/app/").url.startswith("/login/again/")
    assert here.post("/login/again/", {"password": "wrong"}).status_code == 200
    assert here.get("/two-factor/app/").status_code == 302


def test_changing_the_password_ends_the_other_sessions(here):
    sign_in(there := Client())
    new = {"oldpassword": PASSWORD, "password1": "another-long-one", "password2": "another-long-one"}
    assert here.post("/password/", new).status_code == 302
    assert here.get("/").status_code == 200
    assert there.get("/").status_code == 302


def test_sessions_are_listed_and_ended(here):
    sign_in(
        there := Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"})
    )
    assert "Firefox on Linux" in here.get("/sessions/").content.decode()
    here.post("/sessions/")
    assert here.get("/").status_code == 200
    assert there.get("/").status_code == 302


def test_a_forgotten_password_is_mailed_a_link(eng, settings):
    eng.email = "eng@example.org"
    eng.save()
    Client().post("/password/reset/", {"email": "ENG@example.org"})
    (link,) = re.findall(r"http://testserver(\S+)", mail.outbox[0].body)
    client = Client()
    form = client.get(link).url
    new = {"password1": "another-long-one", "password2": "another-long-one"}
    assert client.post(form, new).url == "/password/reset/done/"
    assert sign_in(Client(), "another-long-one").status_code == 302
    assert "does not work any more" in Client().get(link).content.decode()


def test_whether_an_address_is_known_is_not_told(eng, settings):
    answer = Client().post("/password/reset/", {"email": "nobody@example.org"})
    assert answer.url == "/password/reset/sent/"
    assert mail.outbox == []


def test_without_mail_an_administrator_makes_the_link(eng, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert "Ask an administrator" in Client().get("/password/reset/").content.decode()
    client = Client()
    form = client.get(reset_address(person=eng)).url
    new = {"password1": "another-long-one", "password2": "another-long-one"}
    assert client.post(form, new).url == "/password/reset/done/"
    assert sign_in(Client(), "another-long-one").status_code == 302


def test_a_closed_account_is_told_so(eng):
    client = Client()
    sign_in(client)
    eng.is_active = False
    eng.save()
    assert client.get("/").status_code == 302
    assert sign_in(Client()).status_code in (200, 302)
    assert Client().get("/login/inactive/").status_code == 200
