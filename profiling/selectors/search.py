from typing import Any

from django.db.models import Q, QuerySet

from profiling.models import Device, DeviceModel, Workload

MOST = 20


def search(words: str) -> dict[str, QuerySet[Any]]:
    """Everything with each of the words in its name or what it is made of."""
    fields: dict[str, tuple[QuerySet[Any], tuple[str, ...]]] = {
        "workloads": (Workload.objects.all(), ("name", "network", "dataset", "notes")),
        "devices": (Device.objects.select_related("device_model"), ("name", "slug", "location", "notes")),
        "device_models": (DeviceModel.objects.all(), ("name", "slug", "soc", "generation")),
    }
    return {name: rows.filter(holding(words, names))[:MOST] for name, (rows, names) in fields.items()}


def words_of(text: str) -> list[str]:
    """Without NUL, which PostgreSQL takes in no text."""
    return text.replace("\0", " ").split()


def holding(words: str, fields: tuple[str, ...]) -> Q:
    every = Q()
    for word in words_of(words):
        any_field = Q()
        for field in fields:
            any_field |= Q(**{f"{field}__icontains": word})
        every &= any_field
    return every
