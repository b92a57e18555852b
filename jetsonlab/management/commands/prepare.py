"""What must be true before the site starts; safe and quick to repeat."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from jetsonlab.demo import demo_prepare
from profiling.catalog import device_model_entries
from profiling.models import DeviceModel

ADDRESS = "http://127.0.0.1:8000"


class Command(BaseCommand):
    help = "Migrate, load the catalogue, collect static files; with --demo also make a demo user and data."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--demo", action="store_true", help="with a demo user, workloads and emulated measurements"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0, interactive=False)
        if DeviceModel.objects.count() < len(device_model_entries()):
            call_command("seed_catalog", stdout=self.stdout)
        call_command("collectstatic", verbosity=0, interactive=False)
        if options["demo"]:
            for line in demo_prepare(ADDRESS):
                self.stdout.write(line)
        self.stdout.write(f"\n  jetsonlab is starting at {ADDRESS} (Ctrl-C stops everything)\n")
