from typing import Any

from django.core.management.base import BaseCommand

from profiling.services.catalog import catalog_seed


class Command(BaseCommand):
    help = "Load or refresh the device models and their power modes. Safe to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        for device_model in catalog_seed():
            self.stdout.write(f"{device_model.name}: {device_model.power_modes.count():,} power modes")
