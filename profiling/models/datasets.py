"""Named collections of runs, and versions of them that never change."""

from django.conf import settings
from django.core.validators import MinLengthValidator
from django.db import models

from profiling.models.runs import Run


class Dataset(models.Model):
    """Which runs belong together, said by filters; what a version holds is frozen when it is made."""

    slug = models.SlugField(unique=True, max_length=80)
    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(validators=[MinLengthValidator(1)])
    licence = models.CharField(max_length=100, help_text="such as CC-BY-4.0, or none")
    citation = models.TextField(blank=True, help_text="how to cite it")
    filters = models.JSONField(default=dict, blank=True, help_text="as in the address of the run list")
    steps = models.JSONField(
        default=list, blank=True, help_text='then, in turn: {"take": "add" or "remove", "filters": {…}}'
    )
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class DatasetVersion(models.Model):
    """The runs as they were on that day: the very bytes of their CSV, known by their hash."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64, help_text="of the CSV")
    file = models.FileField(upload_to="datasets/%Y/%m/")
    size = models.BigIntegerField()
    run_count = models.PositiveIntegerField()
    card = models.JSONField(help_text="what it holds, for whom, under which licence, as it was frozen")
    notes = models.TextField(blank=True, help_text="what changed since the version before")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created = models.DateTimeField(auto_now_add=True)
    runs: models.ManyToManyField = models.ManyToManyField(
        Run, through="DatasetRun", related_name="dataset_versions"
    )

    class Meta:
        ordering = ["dataset", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="dataset_version_number_once"),
            models.UniqueConstraint(fields=["dataset", "sha256"], name="dataset_version_content_once"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset_id} v{self.number}"

    @property
    def slug(self) -> str:
        """As filters name it."""
        return f"{self.dataset.slug}~{self.number}"


class DatasetRun(models.Model):
    """A run some version holds, so that its upload cannot be undone under it."""

    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="members")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="memberships")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "run"], name="dataset_run_once")]

    def __str__(self) -> str:
        return f"run {self.run_id} in version {self.version_id}"
