from datetime import timedelta

from django.utils import timezone
from rest_framework.test import APIClient

from profiling.models import ApiToken
from profiling.services.tokens import token_create

URL = "/api/v1/tokens/"
ASKED = {"name": "laptop", "scopes": ["upload", "read"]}


def signed_in(user) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


def test_a_token_is_shown_once_and_works(eng):
    made = signed_in(eng).post(URL, ASKED)
    assert made.status_code == 201
    assert made.json()["scopes"] == ["read", "upload"]
    program = APIClient(headers={"Authorization": f"Bearer {made.json()['text']}"})
    assert program.get("/api/v1/runs/").status_code == 200
    assert "text" not in signed_in(eng).get(URL).json()["results"][0]


def test_the_list_shows_ones_own_tokens_and_never_the_digest(eng, vera):
    token_create(user=vera, name="vera's", scopes=["read"])
    token_create(user=eng, name="mine", scopes=["read"])
    (shown,) = signed_in(eng).get(URL).json()["results"]
    assert shown["name"] == "mine"
    assert "digest" not in shown


def test_the_list_costs_the_same_however_many_there_are(eng, django_assert_num_queries):
    for name in "abc":
        token_create(user=eng, name=name, scopes=["read"])
    client = signed_in(eng)
    with django_assert_num_queries(3):  # session, person, tokens
        client.get(URL)


def test_a_revoked_token_opens_nothing(eng):
    token, text = token_create(user=eng, name="t", scopes=["read"])
    assert signed_in(eng).delete(f"{URL}{token.pk}/").status_code == 204
    program = APIClient(headers={"Authorization": f"Bearer {text}"})
    assert program.get("/api/v1/runs/").status_code == 401
    assert ApiToken.objects.get().revoked


def test_an_expired_token_opens_nothing(eng):
    token, text = token_create(user=eng, name="t", scopes=["read"])
    ApiToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    program = APIClient(headers={"Authorization": f"Bearer {text}"})
    assert program.get("/api/v1/runs/").status_code == 401


def test_nobody_revokes_anothers_token(eng, vera):
    token, _ = token_create(user=eng, name="t", scopes=["read"])
    assert signed_in(vera).delete(f"{URL}{token.pk}/").status_code == 404


def test_a_token_makes_no_tokens(api):
    answer = api.post(URL, ASKED)
    assert answer.status_code == 403
    assert "signed in" in answer.json()["detail"]


def test_using_a_token_is_noted_at_most_once_a_minute(api, django_assert_num_queries):
    api.get("/api/v1/runs/")
    assert ApiToken.objects.get().last_used
    with django_assert_num_queries(3):
        api.get("/api/v1/runs/")
