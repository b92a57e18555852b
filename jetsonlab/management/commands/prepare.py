"""What must be true before the site starts; safe and quick to repeat."""

import os
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from jetsonlab.demo import demo_prepare
from profiling.bulk import tables_count
from profiling.catalog import device_model_entries
from profiling.models import DeviceModel


def address() -> str:
    """Where a browser on this machine finds the site: BIND, as the Procfile gives it to gunicorn."""
    host, _, port = os.environ.get("BIND", "127.0.0.1:8000").rpartition(":")
    everywhere = ("", "0.0.0.0", "[::]")  # noqa: S104  (compared with, not bound to)
    return f"http://{'127.0.0.1' if host in everywhere else host}:{port}"


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
        tables_count()
        call_command("collectstatic", verbosity=0, interactive=False)
        if options["demo"]:
            for line in demo_prepare(address()):
                self.stdout.write(line)
        self.stdout.write(f"\n  jetsonlab is starting at {address()} (Ctrl-C stops everything)\n")
