"""`Authorization: Bearer jl_…` for programs; browsers use their session."""

import logging
from datetime import timedelta

from django.contrib.auth.models import AbstractUser
from django.db import OperationalError, transaction
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from profiling.models import ApiToken

logger = logging.getLogger(__name__)

LAST_USED_STEP = timedelta(minutes=1)


class ApiTokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[AbstractUser, ApiToken] | None:
        words = get_authorization_header(request).split()
        if len(words) != 2 or words[0].lower() != b"bearer":
            return None
        token = (
            ApiToken.objects.select_related("user")
            .filter(digest=ApiToken.digest_of(words[1].decode("latin-1")))
            .first()
        )
        if token is None or not token.usable or not token.user.is_active:
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked. Make a new one under Tokens."
            )
        token_mark_used(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def token_mark_used(token: ApiToken) -> None:
    """At most one write a minute, so that reading stays a read."""
    now = timezone.now()
    if token.last_used is None or now - token.last_used > LAST_USED_STEP:
        try:
            with transaction.atomic():
                ApiToken.objects.filter(pk=token.pk).update(last_used=now)
        except OperationalError:  # a full disk or a busy database keeps nobody from reading
            logger.warning("%s: its last use could not be noted", token, exc_info=True)


class ApiTokenScheme(OpenApiAuthenticationExtension):
    target_class = ApiTokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "jl_…"}
