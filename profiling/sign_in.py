"""Signing in, for the site and the admin alike: after too many wrong passwords one has to wait."""

import hashlib
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import cache
from django.core.exceptions import ValidationError
from rest_framework.throttling import BaseThrottle

TRIES_A_NAME = 10
TRIES_AN_ADDRESS = 100  # a whole lab may come from one address
WINDOW_S = 300


class SignInForm(AuthenticationForm):
    def clean(self) -> dict[str, Any]:
        limits = self._limits()
        if any(cache.get(key, 0) >= most for key, most in limits.items()):
            minutes = WINDOW_S // 60
            raise ValidationError(
                f"Too many wrong passwords. Wait {minutes} minutes, then try again.", "throttled"
            )
        try:
            return super().clean()
        except ValidationError:
            for key in limits:
                cache.set(key, cache.get(key, 0) + 1, WINDOW_S)
            raise

    def _limits(self) -> dict[str, int]:
        name = str(self.cleaned_data.get("username", "")).casefold()
        address = BaseThrottle().get_ident(self.request) if self.request else ""  # type: ignore[arg-type]
        return {_key("name", name): TRIES_A_NAME, _key("address", address): TRIES_AN_ADDRESS}


def _key(kind: str, value: str) -> str:
    return f"sign-in-{kind}-{hashlib.sha256(value.encode()).hexdigest()}"
