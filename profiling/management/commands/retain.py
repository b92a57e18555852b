from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from profiling.errors import LabError
from profiling.services.retention import telemetry_retain


class Command(BaseCommand):
    help = (
        "Remove old telemetry; runs stay. Without --days and --keep: RETAIN_TELEMETRY_DAYS, RETAIN_DATASETS."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, help="keep that of runs stored in the last so many days")
        parser.add_argument("--keep", action="append", metavar="DATASET", help="slug; its runs keep theirs")
        parser.add_argument("--dry-run", action="store_true", help="only say what would go")

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["days"] if options["days"] is not None else settings.RETAIN_TELEMETRY_DAYS
        if options["days"] is None and not days:
            raise CommandError("Telemetry is kept for ever here. Give --days, or set RETAIN_TELEMETRY_DAYS.")
        keep = settings.RETAIN_DATASETS if options["keep"] is None else options["keep"]
        try:
            removed = telemetry_retain(days=days, keep=keep, look_only=options["dry_run"])
        except LabError as error:
            raise CommandError(error.message) from error
        verb = "would be" if options["dry_run"] else "was"
        self.stdout.write(
            f"Telemetry of {removed.runs:,} runs, {removed.bytes / 1e6:,.1f} MB, {verb} removed."
        )
