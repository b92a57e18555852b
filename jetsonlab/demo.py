"""The demo: a user, and a lab's worth of emulated measurements to plan with."""

import secrets
from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.models import Group, User

NAME = "demo"


def demo_prepare() -> Iterator[str]:
    yield from demo_user()


def demo_user() -> Iterator[str]:
    """The password is made on the first start and kept in the data folder, readable by its owner only."""
    kept = settings.DATA_DIR / "demo_password"
    user, created = User.objects.get_or_create(username=NAME)
    if created or not kept.exists():
        password = secrets.token_urlsafe(9)
        kept.touch(mode=0o600)
        kept.write_text(password)
        user.set_password(password)
        user.save()
        user.groups.add(Group.objects.get(name="engineer"))
    yield f"\n  sign in as  {NAME}\n  password    {kept.read_text()}"
