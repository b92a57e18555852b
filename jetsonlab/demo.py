"""The demo: a user, an emulated board with its agent, and emulated measurements to plan with.

Everything measured here comes from the emulated board's law and is marked so; nothing is shipped as data.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Group, User

from profiling.agent.config import AgentConfig, as_toml
from profiling.models import ApiToken, Device, DeviceModel
from profiling.services.tokens import token_create

NAME = "demo"
BOARD = "demo-orin"
DEVICE_MODEL = "agx-orin"
# Virtual seconds a real one: fifty modes take about a minute, slow enough to watch.
SPEED = 40.0


def demo_prepare(server: str) -> Iterator[str]:
    user, words = demo_user()
    demo_board(user, server)
    yield words


def demo_user() -> tuple[User, str]:
    """The password is made on the first start and kept in the data folder, readable by its owner only."""
    kept = settings.DATA_DIR / "demo_password"
    user, created = User.objects.get_or_create(username=NAME)
    if created or not kept.exists():
        password = secrets.token_urlsafe(9)
        write_private(kept, password)
        user.set_password(password)
        user.save()
        user.groups.add(Group.objects.get(name="engineer"))
    return user, f"\n  sign in as  {NAME}\n  password    {kept.read_text()}"


def demo_board(user: User, server: str) -> None:
    """An emulated AGX Orin and the configuration of its agent, a Celery worker like any board's."""
    board, _ = Device.objects.get_or_create(
        slug=BOARD,
        defaults={
            "name": "Emulated AGX Orin",
            "device_model": DeviceModel.objects.get(slug=DEVICE_MODEL),
            "driver": Device.Driver.EMULATED,
            "owner": user,
            "notes": "Made by make demo. Its numbers come from a law, not from a board.",
        },
    )
    file = settings.DATA_DIR / "agent.toml"
    if file.exists() and ApiToken.objects.filter(device=board, revoked=None).exists():
        return
    _, text = token_create(user=user, name="demo agent", scopes=["device"], device=board)
    config = AgentConfig(
        server=server,
        token=text,
        device=BOARD,
        driver="emulated",
        device_model=DEVICE_MODEL,
        state=settings.DATA_DIR / "agent",
        broker=settings.CELERY_BROKER_URL,
        broker_folder=settings.DATA_DIR / "broker",
        poll_s=5.0,
        speed=SPEED,
    )
    write_private(file, as_toml(config))


def write_private(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text)
