"""Rates per token and person, counted in the cache that all web processes share."""

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

from profiling.models import ApiToken

if TYPE_CHECKING:  # views import throttles
    from rest_framework.views import APIView


class TokenRateThrottle(UserRateThrottle):
    """One program that runs wild does not lock its owner's other programs out."""

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        if isinstance(request.auth, ApiToken):
            return self.cache_format % {"scope": "token", "ident": request.auth.pk}
        return super().get_cache_key(request, view)
