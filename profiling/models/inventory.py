"""What a lab owns and runs: boards, and the networks they are measured with."""

from django.conf import settings
from django.db import models

from profiling.knobs import KnobRange
from profiling.models.catalog import DeviceModel


class Device(models.Model):
    """One board on one desk."""

    class Driver(models.TextChoices):
        SYSFS = "sysfs", "Jetson, by sysfs"
        JTOP = "jtop", "Jetson, telemetry by jtop"
        HOST = "host", "ordinary Linux machine"
        EMULATED = "emulated", "emulated board"

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    device_model = models.ForeignKey(DeviceModel, on_delete=models.PROTECT, related_name="devices")
    driver = models.CharField(max_length=20, choices=Driver.choices, default=Driver.SYSFS)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    location = models.CharField(max_length=100, blank=True)
    notes = models.TextField(blank=True)
    software = models.JSONField(default=dict, blank=True, help_text="JetPack, L4T, kernel, as the board told")
    former_software = models.JSONField(
        null=True, blank=True, help_text="what it told before its software changed, until drift is checked"
    )
    own_ranges = models.JSONField(
        null=True,
        blank=True,
        help_text="the board's own legal knobs, where they differ from its device model's",
    )
    nvpmodel_conf = models.TextField(blank=True, help_text="the board's /etc/nvpmodel.conf as it enrolled")
    agent = models.CharField(max_length=64, blank=True, help_text="the agent process serving this board")
    status = models.JSONField(default=dict, blank=True, help_text="what the last heartbeat said")
    last_seen = models.DateTimeField(null=True, blank=True)
    retired = models.BooleanField(default=False)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def emulated(self) -> bool:
        return self.driver == self.Driver.EMULATED

    @property
    def awaits_enrolment(self) -> bool:
        """An ordinary machine's knobs are not known before its agent told them."""
        return self.device_model.is_host and not self.software

    @property
    def ranges(self) -> KnobRange:
        if self.own_ranges is None:
            return self.device_model.ranges
        return KnobRange(**{name: tuple(values) for name, values in self.own_ranges.items()})


class Workload(models.Model):
    """Network + dataset + minibatch size + kind, and how it is run."""

    class Kind(models.TextChoices):
        TRAINING = "training"
        INFERENCE = "inference"

    slug = models.SlugField(unique=True, max_length=80)
    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    network = models.CharField(max_length=80)
    dataset = models.CharField(max_length=80, blank=True)
    minibatch = models.PositiveIntegerField(help_text="samples per minibatch")
    loader_workers = models.PositiveSmallIntegerField(null=True, blank=True)
    samples_per_epoch = models.PositiveIntegerField(null=True, blank=True)
    sequence_length = models.PositiveIntegerField(null=True, blank=True)
    precision = models.CharField(max_length=20, blank=True, help_text="fp32, fp16, bf16, int8")
    runner_options = models.JSONField(default=dict, blank=True, help_text="how the runner starts it")
    notes = models.TextField(blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def minibatches_per_epoch(self) -> int | None:
        """None while the samples per epoch are not known."""
        if not self.samples_per_epoch:
            return None
        return -(-self.samples_per_epoch // self.minibatch)


class WorkloadPackage(models.Model):
    """A user's own code or network file, run by boards in place of a network of ours."""

    class Kind(models.TextChoices):
        PYTHON = "python", "zip with workload.py"
        EXPORT = "export", "torch.export file"
        ONNX = "onnx", "ONNX file"

    workload = models.OneToOneField(Workload, on_delete=models.CASCADE, related_name="package")
    file = models.FileField(upload_to="packages/%Y/%m/")
    filename = models.CharField(max_length=255)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.BigIntegerField()
    files = models.PositiveIntegerField()
    unpacked_bytes = models.BigIntegerField()
    uploader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.filename
