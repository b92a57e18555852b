import getpass
import secrets
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from profiling.errors import InvalidInput
from profiling.services.catalog import ROLES
from profiling.services.people import person_create


class Command(BaseCommand):
    help = "Add a person. The password is asked for, read from a pipe, or with --random made up and printed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", choices=ROLES, default="engineer")
        parser.add_argument("--email", default="")
        parser.add_argument("--random", action="store_true", help="make a password up and print it")

    def handle(self, *args: Any, **options: Any) -> None:
        password = secrets.token_urlsafe(12) if options["random"] else read_password()
        try:
            user = person_create(
                name=options["name"], password=password, role=options["role"], email=options["email"]
            )
        except InvalidInput as error:
            raise CommandError(error.message) from error
        shown = f", password {password}" if options["random"] else ""
        self.stdout.write(f"{user.username} is here as {options['role']}{shown}")


def read_password() -> str:
    """Never an argument: other people of the machine would see it."""
    return getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
