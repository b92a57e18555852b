"""Keys for programs: shown once, kept as a digest, limited to what they are for."""

import hashlib
import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone

from profiling.models.inventory import Device


class ApiToken(models.Model):
    """A program's key. Its text is `jl_<random>`; only the SHA-256 of it is stored."""

    class Scope(models.TextChoices):
        READ = "read", "read everything its owner may read"
        UPLOAD = "upload", "create workloads and boards, upload measurements"
        PLAN = "plan", "fit predictors and make plans"
        DEVICE = "device", "deliver the runs of one board"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12, help_text="the first characters, to recognise it by")
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    device = models.ForeignKey(
        Device, on_delete=models.CASCADE, null=True, blank=True, related_name="api_tokens"
    )
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField(null=True, blank=True)
    last_used = models.DateTimeField(null=True, blank=True)
    revoked = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @staticmethod
    def new_text() -> str:
        return f"jl_{secrets.token_urlsafe(32)}"

    @staticmethod
    def digest_of(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def usable(self) -> bool:
        return self.revoked is None and (self.expires is None or self.expires > timezone.now())
