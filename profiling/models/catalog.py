"""What NVIDIA sells: device models, and every power mode each of them allows."""

from django.db import models
from numpy import int64
from numpy.typing import NDArray

from profiling.knobs import KnobRange, Knobs


class DeviceModel(models.Model):
    """A Jetson product, or one ordinary machine (generation HOST). Clocks in kHz; null means not known."""

    HOST = "host"

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100, unique=True)
    generation = models.CharField(max_length=20)
    soc = models.CharField(max_length=20)
    gpu = models.CharField(max_length=40)
    cuda_cores = models.PositiveIntegerField(null=True, blank=True)
    tensor_cores = models.PositiveIntegerField(null=True, blank=True)
    ram_gb = models.PositiveIntegerField(null=True, blank=True)
    ram_type = models.CharField(max_length=20, blank=True)
    peak_power_w = models.PositiveIntegerField(null=True, blank=True)
    price_usd = models.PositiveIntegerField(null=True, blank=True)

    cores = models.JSONField(help_text="legal numbers of active CPU cores, ascending")
    cpu_khz = models.JSONField(help_text="legal CPU clocks in kHz, ascending")
    gpu_khz = models.JSONField(help_text="legal GPU clocks in kHz, ascending")
    mem_khz = models.JSONField(help_text="legal memory clocks in kHz, ascending")
    other_gpu_khz = models.JSONField(
        default=list, blank=True, help_text="GPU clocks of other JetPack releases"
    )
    knobs_note = models.CharField(max_length=300, blank=True)

    rails = models.JSONField(default=list, help_text="power rails the board reports")
    total_rails = models.JSONField(default=list, help_text="the rails whose sum is the module's power")
    total_version = models.PositiveIntegerField(
        default=1, help_text="raised when the total-power rule changes"
    )
    total_note = models.CharField(max_length=300, blank=True)
    presets = models.JSONField(
        default=list, help_text="stock nvpmodel modes; null where a value is not known"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def ranges(self) -> KnobRange:
        return KnobRange(tuple(self.cores), tuple(self.cpu_khz), tuple(self.gpu_khz), tuple(self.mem_khz))

    @property
    def is_host(self) -> bool:
        return self.generation == self.HOST

    @property
    def mode_count(self) -> int:
        return self.ranges.mode_count

    @property
    def maximum(self) -> Knobs:
        return self.ranges.maximum

    def all_modes(self) -> NDArray[int64]:
        """Every power mode, shape (mode_count, 4), in the order of PowerMode.rank: no query needed."""
        return self.ranges.all_modes()


class PowerMode(models.Model):
    """A legal set of knobs of a DeviceModel; `rank` is its row in DeviceModel.all_modes().

    A mode that a newer catalogue no longer allows keeps its row, for the runs that used it, without a rank.
    """

    device_model = models.ForeignKey(DeviceModel, on_delete=models.CASCADE, related_name="power_modes")
    rank = models.PositiveIntegerField(null=True)
    cores = models.PositiveSmallIntegerField()
    cpu_khz = models.PositiveIntegerField()
    gpu_khz = models.PositiveIntegerField()
    mem_khz = models.PositiveIntegerField()

    class Meta:
        ordering = ["device_model", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["device_model", "rank"], name="power_mode_rank_once"),
            models.UniqueConstraint(
                fields=["device_model", "cores", "cpu_khz", "gpu_khz", "mem_khz"],
                name="power_mode_knobs_once",
            ),
        ]

    def __str__(self) -> str:
        return str(self.knobs)

    @property
    def knobs(self) -> Knobs:
        return Knobs(self.cores, self.cpu_khz, self.gpu_khz, self.mem_khz)
