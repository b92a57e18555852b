"""What people come back to."""

from django.conf import settings
from django.db import models


class SavedView(models.Model):
    """A page as somebody filtered, sorted and cut it, under a name of their own."""

    class Page(models.TextChoices):
        RUNS = "run-list"
        EXPLORE = "run-explore"
        COMPARE = "compare"
        WORKLOADS = "workload-list"
        DEVICES = "device-list"
        DATASETS = "dataset-list"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    page = models.CharField(max_length=30, choices=Page.choices)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True, help_text="as in the address")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "page", "name"], name="saved_view_name_once")]

    def __str__(self) -> str:
        return self.name
