"""Keys for the programs of a test, without a line in the audit log."""

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from profiling.models import ApiToken, Device

EVERYTHING = ("read", "upload", "plan")


def token_of(user: User, *scopes: str, device: Device | None = None) -> str:
    """The text of a new token."""
    text = ApiToken.new_text()
    ApiToken.objects.create(
        user=user,
        name="tests",
        prefix=text[:8],
        digest=ApiToken.digest_of(text),
        scopes=list(scopes),
        device=device,
    )
    return text


def program_with(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client
