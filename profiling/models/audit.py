"""Who did what, when and from where. Written once, changed never."""

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone

from profiling.errors import Conflict


class AppendOnly(models.QuerySet):
    def update(self, **fields: Any) -> NoReturn:
        raise Conflict("What the audit log says stays as it is.")

    def delete(self) -> NoReturn:
        raise Conflict("What the audit log says stays.")


class AuditEntry(models.Model):
    class Action(models.TextChoices):
        SIGN_IN = "sign-in", "signed in"
        SIGN_IN_FAILED = "sign-in-failed", "failed to sign in"
        SIGN_OUT = "sign-out", "signed out"
        PASSWORD = "password", "set a new password"
        TWO_FACTOR_ON = "two-factor-on", "turned two-factor sign-in on"
        TWO_FACTOR_OFF = "two-factor-off", "turned two-factor sign-in off"
        PERSON_INVITE = "person-invite", "invited"
        PERSON_UNINVITE = "person-uninvite", "took back the invitation of"
        PERSON_JOIN = "person-join", "joined"
        PERSON_ROLE = "person-role", "changed the role of"
        PERSON_CLOSE = "person-close", "closed the account of"
        PERSON_OPEN = "person-open", "opened the account of"
        PERSON_LINK = "person-link", "made a password link for"
        TOKEN_MAKE = "token-make", "made the token"
        TOKEN_REVOKE = "token-revoke", "revoked the token"
        DEVICE_CREATE = "device-create", "registered the board"
        DEVICE_CHANGE = "device-change", "changed the board"
        DEVICE_ENROL = "device-enrol", "enrolled the board"
        MODE_APPLY = "mode-apply", "applied a mode to the board"
        MODE_RESTORE = "mode-restore", "put back the board"
        WORKLOAD_CREATE = "workload-create", "created the workload"
        WORKLOAD_CHANGE = "workload-change", "changed the workload"
        PACKAGE_SEND = "package-send", "sent the package"
        UPLOAD_SEND = "upload-send", "uploaded"
        UPLOAD_DECIDE = "upload-decide", "decided about the upload"
        UPLOAD_UNDO = "upload-undo", "took back the upload"
        RUN_CORRECT = "run-correct", "corrected the run"
        DATASET_CREATE = "dataset-create", "created the dataset"
        DATASET_CHANGE = "dataset-change", "changed the dataset"
        DATASET_FREEZE = "dataset-freeze", "froze the dataset"
        SWEEP_REQUEST = "sweep-request", "asked for the sweep"
        SWEEP_CANCEL = "sweep-cancel", "cancelled the sweep"
        SWEEP_RESUME = "sweep-resume", "resumed the sweep"
        PREDICTOR_REQUEST = "predictor-request", "asked for the predictor"
        PREDICTOR_RETRY = "predictor-retry", "tried again to fit the predictor"
        PLAN_KEEP = "plan-keep", "chose the plan"
        EVALUATION_REQUEST = "evaluation-request", "asked for the evaluation"
        EVALUATION_IMPORT = "evaluation-import", "brought in the evaluation"
        RETAIN = "retain", "removed old telemetry"
        ADMIN = "admin", "changed in the administration"

    class Via(models.TextChoices):
        PAGE = "page", "the site"
        API = "api", "the API"
        AGENT = "agent", "a board's agent"
        ADMIN = "admin", "the administration"
        WORKER = "worker", "a worker"
        COMMAND = "command", "a command on the server"

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    actor_name = models.CharField(max_length=150, blank=True, help_text="kept when the person is removed")
    token = models.CharField(max_length=120, blank=True, help_text="the program's key, by name and prefix")
    via = models.CharField(max_length=10, choices=Via.choices)
    address = models.GenericIPAddressField(null=True)
    action = models.CharField(max_length=30, db_index=True, help_text="one of Action")
    kind = models.CharField(max_length=40, blank=True)
    object_id = models.CharField(max_length=40, blank=True)
    label = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict)

    objects = AppendOnly.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["kind", "object_id"], name="audit_by_object")]

    def __str__(self) -> str:
        return f"{self.actor_name or 'somebody'} {self.did} {self.label}"

    @property
    def did(self) -> str:
        """In words. Not `choices` of the column, or each new action would take a migration."""
        return str(self.Action(self.action).label)

    def save(self, *args: Any, **options: Any) -> None:
        if not self._state.adding:
            raise Conflict("What the audit log says stays as it is.")
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise Conflict("What the audit log says stays.")
