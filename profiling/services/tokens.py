from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from profiling.errors import Forbidden, InvalidInput
from profiling.models import ApiToken, Device
from profiling.permissions import has_role
from profiling.services.audit import Action, audit
from profiling.services.checks import check_fields

# A token never allows more than its owner may do.
ROLE_FOR_SCOPE = {"read": "viewer", "upload": "engineer", "plan": "engineer", "device": "engineer"}
DAYS = 90
MAX_DAYS = 366


@transaction.atomic
def token_create(
    *, user: User, name: str, scopes: Sequence[str], days: int | None = DAYS, device: Device | None = None
) -> tuple[ApiToken, str]:
    """The token and its text, which is known only now. `days` None: never expires, for boards only."""
    _check_scopes(user, scopes, device)
    if days is None and device is None:
        raise InvalidInput(f"Only a board's token may last for ever; choose 1 to {MAX_DAYS} days.")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"A token lasts 1 to {MAX_DAYS} days, not {days}.")
    text = ApiToken.new_text()
    token = ApiToken(
        user=user,
        name=name.strip(),
        prefix=text[:8],
        digest=ApiToken.digest_of(text),
        scopes=[scope for scope in ROLE_FOR_SCOPE if scope in scopes],
        device=device,
        expires=timezone.now() + timedelta(days=days) if days else None,
    )
    check_fields(token)
    token.save()
    audit(Action.TOKEN_MAKE, token, user=user, scopes=token.scopes, device=device, expires=token.expires)
    return token, text


@transaction.atomic
def token_revoke(*, token: ApiToken, user: User) -> None:
    """Revoking again changes nothing."""
    if token.user_id != user.pk and not has_role(user, "admin"):
        raise Forbidden("This token is somebody else's. Ask them or an administrator to revoke it.")
    if ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=timezone.now()):
        audit(Action.TOKEN_REVOKE, token, user=user, owner=token.user)
    token.refresh_from_db()


def _check_scopes(user: User, scopes: Sequence[str], device: Device | None) -> None:
    unknown = [scope for scope in scopes if scope not in ROLE_FOR_SCOPE]
    if unknown or not scopes:
        raise InvalidInput(f"Scopes are one or more of {', '.join(ROLE_FOR_SCOPE)}, not {list(scopes)}.")
    for scope in scopes:
        if not has_role(user, ROLE_FOR_SCOPE[scope]):
            raise Forbidden(
                f"A token for {scope!r} needs the role {ROLE_FOR_SCOPE[scope]}. Ask an administrator."
            )
    if ("device" in scopes) != (device is not None):
        raise InvalidInput(
            "The scope 'device' goes with exactly one board: name the board, or drop the scope."
        )
