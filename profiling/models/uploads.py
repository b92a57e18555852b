"""Files people send, and what became of every line."""

import uuid

from django.conf import settings
from django.db import models

from profiling.models.catalog import DeviceModel
from profiling.models.inventory import Device, Workload


class Upload(models.Model):
    """A measurements file on its way to becoming runs.

    RECEIVED -> MAPPING when a column is ambiguous and the user has to say what it is;
    RECEIVED or MAPPING -> READING -> DONE when every line is good;
    READING -> CHOOSING when lines are bad: the user imports the good ones, or nothing;
    CHOOSING -> IMPORTING -> DONE, or -> REJECTED; DONE -> UNDONE; any -> FAILED with the reason.
    """

    class State(models.TextChoices):
        RECEIVED = "received"
        MAPPING = "mapping"
        READING = "reading"
        CHOOSING = "choosing"
        IMPORTING = "importing"
        DONE = "done"
        REJECTED = "rejected"
        UNDONE = "undone"
        FAILED = "failed"

    file = models.FileField(upload_to="uploads/%Y/%m/")
    filename = models.CharField(max_length=255)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64, db_index=True)
    idempotency_key = models.CharField(max_length=100, blank=True)
    uploader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    workload = models.ForeignKey(
        Workload, on_delete=models.PROTECT, related_name="uploads", null=True, blank=True
    )
    device_model = models.ForeignKey(DeviceModel, on_delete=models.PROTECT, null=True, blank=True)
    device = models.ForeignKey(Device, on_delete=models.PROTECT, null=True, blank=True)
    run = models.ForeignKey(
        "profiling.Run",
        on_delete=models.SET_NULL,
        related_name="logs",
        null=True,
        blank=True,
        help_text="the run whose telemetry this log is; without it a log becomes a run of its own",
    )
    interval_s = models.FloatField(
        null=True, blank=True, help_text="seconds between the lines of a log without times"
    )
    emulated = models.BooleanField(default=False, help_text="the numbers come from an emulated board")

    state = models.CharField(max_length=20, choices=State.choices, default=State.RECEIVED)
    state_since = models.DateTimeField(null=True, blank=True, help_text="when its worker began this step")
    format = models.CharField(max_length=40, blank=True)
    mapping = models.JSONField(null=True, blank=True, help_text="which column is what, and in which unit")
    provenance = models.JSONField(
        default=dict, blank=True, help_text="how fields that the file lacks were worked out, of all its runs"
    )
    proposal = models.JSONField(
        null=True, blank=True, help_text="what the columns seem to be, and what to ask"
    )
    on_bad_lines = models.CharField(
        max_length=10, default="ask", help_text="ask, good (import the good lines), nothing"
    )
    repeats = models.CharField(
        max_length=10,
        default="refuse",
        help_text="a mode that comes again with other values: refuse (a bad line), keep (a repeat)",
    )
    rows_total = models.PositiveIntegerField(null=True, blank=True)
    rows_done = models.PositiveIntegerField(default=0)
    rows_imported = models.PositiveIntegerField(null=True, blank=True)
    problem_count = models.PositiveIntegerField(default=0)
    problems = models.JSONField(
        default=list, blank=True, help_text="the first problems; the report file has all"
    )
    report = models.FileField(upload_to="reports/%Y/%m/", blank=True)
    notes = models.JSONField(default=list, blank=True, help_text="oddities that are not errors")
    failure = models.TextField(blank=True)
    worked_until = models.DateTimeField(
        null=True, blank=True, help_text="a worker is at it; after this moment another may take over"
    )
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True, blank=True)
    hidden = models.BooleanField(
        default=False, help_text="its runs are on their way in or out, and nobody sees any of them"
    )

    class Meta:
        ordering = ["-created"]
        indexes = [
            models.Index(fields=["hidden"], condition=models.Q(hidden=True), name="upload_hidden"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["uploader", "idempotency_key"],
                condition=~models.Q(idempotency_key=""),
                name="upload_idempotency_key_once",
            ),
            models.UniqueConstraint(
                fields=["sha256", "workload", "device_model"],
                condition=~models.Q(state__in=["rejected", "undone", "failed"]),
                name="upload_content_once",
            ),
        ]

    def __str__(self) -> str:
        return self.filename


class Transfer(models.Model):
    """A file that arrives in pieces. What is there lies on disk, and its length is the offset to go on from.

    Complete, it becomes an upload; left alone for a day, it is deleted.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    filename = models.CharField(max_length=255)
    size = models.BigIntegerField(help_text="bytes when it is complete")
    about = models.JSONField(help_text="what was asked beside the file")
    idempotency_key = models.CharField(max_length=100, blank=True)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "idempotency_key"],
                condition=~models.Q(idempotency_key=""),
                name="transfer_idempotency_key_once",
            ),
        ]

    def __str__(self) -> str:
        return self.filename
