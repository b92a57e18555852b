"""What we believe, and what to do about it: predictors, their predictions, and plans."""

from django.conf import settings
from django.db import models

from profiling.models import Device, DeviceModel, PowerMode, Run, Workload


class Predictor(models.Model):
    """A fitted artefact for one workload on one device model.

    PENDING -> FITTING when a worker claims it -> READY, or FAILED with the reason; FITTING -> PENDING when
    the worker falls silent. Its PredictionSet goes stale when data come in.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        FITTING = "fitting"
        READY = "ready"
        FAILED = "failed"

    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="predictors")
    device_model = models.ForeignKey(DeviceModel, on_delete=models.PROTECT, related_name="predictors")
    method = models.CharField(max_length=30)
    seed = models.PositiveIntegerField(default=0)
    parent = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="children"
    )
    references = models.ManyToManyField(Workload, blank=True, related_name="reference_for")
    state = models.CharField(max_length=20, choices=State.choices, default=State.PENDING)
    step = models.CharField(max_length=100, blank=True)
    steps_done = models.PositiveSmallIntegerField(default=0)
    steps_total = models.PositiveSmallIntegerField(default=1)
    attempts = models.PositiveSmallIntegerField(default=0)
    heartbeat = models.DateTimeField(null=True, blank=True, help_text="when its worker last began a step")
    failure = models.TextField(blank=True)
    emulated = models.BooleanField(default=False, help_text="fitted on runs of an emulated board")
    card = models.JSONField(
        default=dict, help_text="rows, seed, versions, own error by cross-validation, notes"
    )
    data_digest = models.CharField(max_length=64, blank=True, help_text="of the runs it was fitted on")
    artefact = models.BinaryField(null=True, blank=True, help_text="tensors, loaded with weights_only=True")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    created = models.DateTimeField(auto_now_add=True)
    fitted = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.method} for {self.workload} on {self.device_model}"


class PredictionSet(models.Model):
    """One Predictor over all PowerModes of its device model, in columns; row i is PowerMode.rank i."""

    predictor = models.OneToOneField(Predictor, on_delete=models.CASCADE, related_name="prediction_set")
    minibatches = models.JSONField(
        default=list, help_text="minibatch sizes predicted, one block of modes each"
    )
    mode_count = models.PositiveIntegerField()
    columns = models.BinaryField(help_text="compressed float32 arrays, no pickle")
    stale = models.BooleanField(default=False)
    stale_reason = models.CharField(max_length=200, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.predictor}: {self.mode_count:,} modes"


class Plan(models.Model):
    """The PowerMode chosen under a Budget, why, and how it did when verified."""

    prediction_set = models.ForeignKey(
        PredictionSet, on_delete=models.SET_NULL, null=True, related_name="plans"
    )
    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="plans")
    device_model = models.ForeignKey(DeviceModel, on_delete=models.PROTECT, related_name="plans")
    device = models.ForeignKey(Device, on_delete=models.SET_NULL, null=True, blank=True)
    question = models.JSONField(help_text="budget, objective, risk and knob limits as asked")
    power_mode = models.ForeignKey(PowerMode, on_delete=models.PROTECT, null=True, blank=True)
    answer = models.JSONField(
        default=dict, help_text="what was predicted of the choice, and why it was chosen"
    )
    verification = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="verifies"
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"plan for {self.workload} on {self.device_model}"


class StoredCorpus(models.Model):
    """What the default method learned from a device model's references, until their measurements change."""

    key = models.CharField(
        max_length=64, unique=True, help_text="of the references' data and the method's code"
    )
    device_model = models.ForeignKey(DeviceModel, on_delete=models.CASCADE, related_name="corpora")
    tensors = models.BinaryField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "stored corpora"

    def __str__(self) -> str:
        return f"{self.device_model}: {self.key[:12]}"


class Evaluation(models.Model):
    """What `evaluate` found of some methods on one target: a line of the leaderboard per result.

    Computed here: PENDING -> RUNNING -> READY, or FAILED with the reason; RUNNING -> PENDING when the worker
    falls silent. Brought in from elsewhere: READY.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        READY = "ready"
        FAILED = "failed"

    title = models.CharField(max_length=200)
    workload = models.ForeignKey(
        Workload, on_delete=models.CASCADE, null=True, blank=True, related_name="evaluations"
    )
    device_model = models.ForeignKey(DeviceModel, on_delete=models.PROTECT, null=True, blank=True)
    options = models.JSONField(default=dict, help_text="methods, counts, repeats, sampling, seed, verify")
    state = models.CharField(max_length=20, choices=State.choices, default=State.PENDING)
    step = models.CharField(max_length=100, blank=True)
    steps_done = models.PositiveIntegerField(default=0)
    steps_total = models.PositiveIntegerField(default=1)
    attempts = models.PositiveSmallIntegerField(default=0)
    started = models.DateTimeField(null=True, blank=True, help_text="when its worker began")
    heartbeat = models.DateTimeField(null=True, blank=True, help_text="when its worker last ended a step")
    failure = models.TextField(blank=True)
    emulated = models.BooleanField(default=False)
    results = models.JSONField(default=list, help_text="as `evaluate --json` prints them")
    digest = models.CharField(max_length=64, blank=True, help_text="of results brought in from elsewhere")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["digest"], condition=~models.Q(digest=""), name="evaluation_once")
        ]

    def __str__(self) -> str:
        return self.title
