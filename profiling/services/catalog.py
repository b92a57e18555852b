from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction

from profiling.catalog import device_model_entries
from profiling.models import DeviceModel, PowerMode

ROLES = ("viewer", "engineer", "admin")


@transaction.atomic
def catalog_seed() -> list[DeviceModel]:
    for role in ROLES:
        Group.objects.get_or_create(name=role)
    return [device_model_seed(entry=entry) for entry in device_model_entries()]


@transaction.atomic
def device_model_seed(*, entry: dict[str, Any]) -> DeviceModel:
    known = DeviceModel.objects.filter(slug=entry["slug"]).first()
    device_model, _ = DeviceModel.objects.update_or_create(slug=entry["slug"], defaults=entry)
    if known is None or known.ranges != device_model.ranges:
        power_modes_store(device_model=device_model)
    return device_model


@transaction.atomic
def power_modes_store(*, device_model: DeviceModel) -> None:
    """Modes already stored keep their ids, since runs point at them; one no longer legal loses its rank."""
    device_model.power_modes.update(rank=None)
    PowerMode.objects.bulk_create(
        (
            PowerMode(device_model=device_model, rank=rank, cores=c, cpu_khz=u, gpu_khz=g, mem_khz=m)
            for rank, (c, u, g, m) in enumerate(device_model.all_modes().tolist())
        ),
        batch_size=5000,
        update_conflicts=True,
        unique_fields=["device_model", "cores", "cpu_khz", "gpu_khz", "mem_khz"],
        update_fields=["rank"],
    )
