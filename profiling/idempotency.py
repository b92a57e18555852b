"""The header by which a request sent again is known for the same."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from profiling.errors import InvalidInput

HEADER = "Idempotency-Key"
MOST = 100  # which is what the columns hold


def idempotency_key(request: Request) -> str:
    key = str(request.headers.get(HEADER, ""))
    if len(key) > MOST:
        raise InvalidInput(
            f"The {HEADER} has {len(key)} characters; {MOST} are the most. Send a shorter one, like a hash."
        )
    return key


def key_parameter(description: str) -> OpenApiParameter:
    kind = {"type": "string", "maxLength": MOST}
    return OpenApiParameter(HEADER, kind, OpenApiParameter.HEADER, description=description)
