"""What was measured: sweeps, their runs, and the telemetry of each run."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Cast, StrIndex
from django.db.models.lookups import Exact, GreaterThan

from profiling.flags import ANY, BIT
from profiling.knobs import Knobs
from profiling.models.catalog import DeviceModel, PowerMode
from profiling.models.inventory import Device, Workload
from profiling.models.uploads import Upload

BROWSED = ["workload", "device_model", "state", "emulated", "flag_bits", "device", "upload"]
BROWSED += ["cores", "cpu_khz", "gpu_khz", "mem_khz", "minibatch", "time_ms", "power_mw", "energy_mj"]
BROWSED += ["created", "measured_at"]
RARE = ["state", "id", "device_model", "workload", "emulated", "flag_bits", "device", "upload"]


def _flag_bits() -> models.Case:
    """flags as a number. The database computes it, so that it is right whoever writes. Most runs have none,
    and are spared the search for each."""
    text = Cast("flags", models.TextField())
    bits: Any = models.Value(ANY)
    for flag, bit in BIT.items():
        place = StrIndex(text, models.Value(f'"{flag}"'))
        bits += models.Case(models.When(GreaterThan(place, 0), then=bit), default=0)
    return models.Case(models.When(Exact(text, models.Value("[]")), then=0), default=bits)


def _where_known(*fields: str, name: str) -> models.Index:
    """Of few runs only: imported ones have neither a sweep nor a corrector, and seldom a device."""
    return models.Index(fields=list(fields), condition=models.Q(**{f"{fields[0]}__isnull": False}), name=name)


class Sweep(models.Model):
    """One request for many Runs on one Device."""

    class State(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        DONE = "done"
        CANCELLED = "cancelled"
        FAILED = "failed"

    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="sweeps")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="sweeps")
    strategy = models.CharField(max_length=30, help_text="how the modes were chosen")
    options = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=20, choices=State.choices, default=State.PENDING, db_index=True)
    message = models.TextField(blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.workload} on {self.device}"


class VisibleRuns(models.Manager["Run"]):
    """Without the runs of a file that is still coming in, or going out again: its runs show all at once."""

    def get_queryset(self) -> models.QuerySet["Run"]:
        hidden = Upload.objects.filter(hidden=True)
        # Seldom is any hidden: asked once, that spares looking up the upload of each run.
        return super().get_queryset().filter(~models.Exists(hidden) | ~models.Q(upload__in=hidden))


class Run(models.Model):
    """A Workload at one set of knobs on a board: measured by an agent, or imported from a file.

    PENDING -> CLAIMED when an agent takes it -> COMPLETE when delivered, or FAILED with the reason;
    CLAIMED -> PENDING when the agent falls silent; PENDING or CLAIMED -> CANCELLED.
    Imported runs come COMPLETE; while their upload is `hidden`, `Run.objects` has none of them.
    A complete run never changes: a correction is a new run that revises it, COMPLETE -> SUPERSEDED.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        CLAIMED = "claimed"
        COMPLETE = "complete"
        FAILED = "failed"
        CANCELLED = "cancelled"
        SUPERSEDED = "superseded"

    # Each index costs an import dear. Those without one of their own are answered by those below.
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="runs", db_index=False)
    device_model = models.ForeignKey(
        DeviceModel, on_delete=models.PROTECT, related_name="runs", db_index=False
    )
    device = models.ForeignKey(
        Device, on_delete=models.PROTECT, related_name="runs", null=True, blank=True, db_index=False
    )
    state = models.CharField(max_length=20, choices=State.choices, default=State.COMPLETE)
    emulated = models.BooleanField(default=False)

    power_mode = models.ForeignKey(
        PowerMode, on_delete=models.PROTECT, related_name="runs", null=True, blank=True, db_index=False
    )
    cores = models.PositiveSmallIntegerField(null=True, blank=True)
    cpu_khz = models.PositiveIntegerField(null=True, blank=True)
    gpu_khz = models.PositiveIntegerField(null=True, blank=True)
    mem_khz = models.PositiveIntegerField(null=True, blank=True)
    minibatch = models.PositiveIntegerField()

    time_ms = models.FloatField(null=True, blank=True, help_text="median time of one minibatch")
    time_sd_ms = models.FloatField(null=True, blank=True)
    fetch_ms = models.FloatField(null=True, blank=True)
    compute_ms = models.FloatField(null=True, blank=True)
    power_mw = models.FloatField(null=True, blank=True, help_text="time-weighted mean of the module's power")
    energy_mj = models.FloatField(null=True, blank=True, help_text="energy of one minibatch")
    minibatches = models.PositiveIntegerField(null=True, blank=True)
    power_samples = models.PositiveIntegerField(null=True, blank=True)
    flags = models.JSONField(
        default=list, blank=True, help_text="throttled, unstable, short, few_power_samples, dvfs_on"
    )
    flag_bits = models.GeneratedField(
        expression=_flag_bits(), output_field=models.SmallIntegerField(), db_persist=True
    )
    unknowns = models.JSONField(default=dict, blank=True, help_text="field -> why it is not known")
    extra = models.JSONField(default=dict, blank=True, help_text="fields of the source we have no column for")
    provenance = models.JSONField(default=dict, blank=True)

    sweep = models.ForeignKey(
        Sweep, on_delete=models.PROTECT, related_name="runs", null=True, blank=True, db_index=False
    )
    order = models.PositiveIntegerField(null=True, blank=True, help_text="place in its sweep")
    attempts = models.PositiveSmallIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    failure = models.TextField(blank=True)
    upload = models.ForeignKey(Upload, on_delete=models.PROTECT, related_name="runs", null=True, blank=True)
    line = models.PositiveIntegerField(null=True, blank=True, help_text="line in the uploaded file")
    revises = models.OneToOneField(
        "self", on_delete=models.CASCADE, related_name="revised_by", null=True, blank=True
    )
    corrected_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        db_index=False,
    )
    correction = models.TextField(blank=True, help_text="why it revises the other run")
    measured_at = models.DateTimeField(null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    objects = VisibleRuns()
    everything: models.Manager["Run"] = models.Manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            # Wide, since it alone answers facets, ranges and heat maps, whatever the filters.
            models.Index(fields=BROWSED, name="run_browse"),
            _where_known("device", "state", name="run_device_state"),
            _where_known("sweep", name="run_sweep"),
            _where_known("corrected_by", name="run_corrected_by"),
            models.Index(fields=RARE, condition=~models.Q(state="complete"), name="run_not_complete"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.workload_id} at {self.knobs or 'partly unknown knobs'}"

    @property
    def origin(self) -> dict[str, Any]:
        """Its provenance, with what its upload says of all its runs."""
        whole_file = self.upload.provenance if self.upload else {}
        known = {name: how for name, how in whole_file.items() if getattr(self, name, how) is not None}
        return known | self.provenance

    @property
    def knobs(self) -> Knobs | None:
        values = (self.cores, self.cpu_khz, self.gpu_khz, self.mem_khz)
        return None if None in values else Knobs(*values)  # type: ignore[arg-type]


class Telemetry(models.Model):
    """What the sensors said during a stretch of a Run, as compressed Parquet; never a row per sample."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="telemetry")
    sequence = models.PositiveIntegerField(default=0)
    upload = models.ForeignKey(
        Upload, on_delete=models.PROTECT, related_name="telemetry", null=True, blank=True
    )
    start_s = models.FloatField(help_text="seconds since the run began")
    end_s = models.FloatField()
    rows = models.PositiveIntegerField()
    columns = models.JSONField(help_text="names, units last: power_vdd_in_mw, gpu_khz, temp_cpu_c")
    parquet = models.BinaryField()

    class Meta:
        ordering = ["run", "sequence"]
        constraints = [models.UniqueConstraint(fields=["run", "sequence"], name="telemetry_chunk_once")]

    def __str__(self) -> str:
        return f"run {self.run_id}, chunk {self.sequence}"
