import pytest
from django.test import RequestFactory

from profiling.sign_in import TRIES_A_NAME, SignInForm


@pytest.fixture
def sign_in(eng):
    def attempt(password: str, name: str = "eng", address: str = "10.0.0.1") -> SignInForm:
        request = RequestFactory().post("/login/", REMOTE_ADDR=address, headers={"X-Forwarded-For": password})
        return SignInForm(request, data={"username": name, "password": password})

    return attempt


def test_the_right_password_signs_in(sign_in, eng):
    form = sign_in("eng-long-password")
    assert form.is_valid()
    assert form.get_user() == eng


def test_after_too_many_wrong_passwords_even_the_right_one_waits(sign_in):
    for number in range(TRIES_A_NAME):
        assert not sign_in(f"wrong {number}", name="ENG" if number % 2 else "eng").is_valid()
    form = sign_in("eng-long-password")
    assert not form.is_valid()
    assert "Wait 5 minutes" in str(form.errors)


def test_others_may_still_sign_in(sign_in, vera):
    for number in range(TRIES_A_NAME):
        sign_in(f"wrong {number}").is_valid()
    assert sign_in("vera-long-password", name="vera").is_valid()


def test_one_address_cannot_try_all_names(sign_in, monkeypatch):
    monkeypatch.setattr("profiling.sign_in.TRIES_AN_ADDRESS", 3)
    for name in ("a", "b", "c"):
        sign_in("guess", name=name).is_valid()
    assert not sign_in("eng-long-password").is_valid()
    assert sign_in("eng-long-password", address="10.0.0.2").is_valid()
