import hashlib
import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone


class Invitation(models.Model):
    """A link that makes one account of one role, once. Only the SHA-256 of its text is stored."""

    email = models.EmailField()
    role = models.CharField(max_length=10)
    digest = models.CharField(max_length=64, unique=True)
    inviter = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="invitations"
    )
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    withdrawn = models.DateTimeField(null=True, blank=True)
    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="invitation"
    )
    accepted = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.email

    @staticmethod
    def new_text() -> str:
        return secrets.token_urlsafe(32)

    @staticmethod
    def digest_of(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def usable(self) -> bool:
        return self.withdrawn is None and self.accepted is None and self.expires > timezone.now()
