import pytest

from profiling.errors import Forbidden, InvalidInput
from profiling.models import ApiToken
from profiling.services.tokens import token_create, token_revoke


def test_only_the_digest_is_kept(eng):
    token, text = token_create(user=eng, name="t", scopes=["read"])
    assert text.startswith("jl_")
    assert text not in str(vars(ApiToken.objects.get()).values())
    assert token.digest == ApiToken.digest_of(text)


def test_it_expires_in_ninety_days_unless_asked(eng):
    token, _ = token_create(user=eng, name="t", scopes=["read"])
    assert round((token.expires - token.created).total_seconds() / 86_400) == 90


def test_a_viewer_gets_no_token_for_uploads(vera):
    with pytest.raises(Forbidden, match="needs the role engineer"):
        token_create(user=vera, name="t", scopes=["read", "upload"])


@pytest.mark.parametrize(
    "asked",
    [
        {"scopes": []},
        {"scopes": ["everything"]},
        {"scopes": ["device"]},
        {"scopes": ["read"], "days": None},
        {"scopes": ["read"], "days": 0},
        {"scopes": ["read"], "days": 1000},
        {"scopes": ["read"], "name": ""},
    ],
)
def test_what_cannot_be_meant_is_refused(eng, asked):
    with pytest.raises(InvalidInput):
        token_create(user=eng, **({"name": "t"} | asked))


def test_a_boards_token_is_for_that_board_and_may_last(eng, board):
    token, _ = token_create(user=eng, name="t", scopes=["device"], device=board, days=None)
    assert (token.device, token.expires, token.usable) == (board, None, True)
    with pytest.raises(InvalidInput, match="exactly one board"):
        token_create(user=eng, name="t", scopes=["read"], device=board)


def test_an_administrator_revokes_anybodys_token(eng, vera, ada):
    token, _ = token_create(user=eng, name="t", scopes=["read"])
    with pytest.raises(Forbidden):
        token_revoke(token=token, user=vera)
    token_revoke(token=token, user=ada)
    first = token.revoked
    token_revoke(token=token, user=ada)
    assert token.revoked == first
