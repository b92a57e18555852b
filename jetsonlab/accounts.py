"""Where django-allauth's ways differ here."""

import base64
import hashlib

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet
from django.conf import settings
from django.http import HttpRequest

from profiling.services.audit import client_address


class AccountAdapter(DefaultAccountAdapter):
    error_messages = DefaultAccountAdapter.error_messages | {
        "too_many_login_attempts": "Too many wrong passwords. Wait 5 minutes, then try again.",
        "username_password_mismatch": "Name and password do not belong together. Both are case-sensitive.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """People come by invitation."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """The same address in limits, sessions and the audit log; a local socket has none."""
        return client_address(request) or "0.0.0.0"  # noqa: S104  (nothing is bound to it)


class MfaAdapter(DefaultMFAAdapter):
    """Seeds are kept encrypted: a copy of the database alone signs nobody in."""

    def encrypt(self, text: str) -> str:
        return cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return cipher().decrypt(encrypted_text.encode()).decode()


def cipher() -> Fernet:
    digest = hashlib.sha256(f"two-factor {settings.SECRET_KEY}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
