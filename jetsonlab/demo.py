"""The demo: a user, an emulated board with its agent, and emulated measurements to plan with.

Everything measured here comes from the emulated board's law and is marked so; nothing is shipped as data.
"""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

from modeling.services.predictors import predictor_request
from profiling.agent.config import AgentConfig, as_toml, load_config
from profiling.agent.making import catalogue_entry
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.emulation.law import emulated_table
from profiling.knobs import KNOB_NAMES, KnobRange
from profiling.models import ApiToken, Device, DeviceModel, Workload
from profiling.modes import powertrain_grid, random_modes
from profiling.receiving import received
from profiling.services.imports import upload_work
from profiling.services.tokens import token_create
from profiling.services.uploads import upload_receive
from profiling.services.workloads import workload_create

NAME = "demo"
BOARD = "demo-orin"
DEVICE_MODEL = "agx-orin"
# Virtual seconds a real one: fifty modes take about a minute, slow enough to watch.
SPEED = 40.0
# Two references known on PowerTrain's whole grid, one newcomer measured at 20 modes, one not at all.
REFERENCES = (("MobileNet-v2", "GLD-23k", 23_080), ("LSTM", "Wikitext-2", 36_000))
NEWCOMER = ("YOLO-tiny", "COCO minitrain", 25_000)
UNTOUCHED = ("ResNet-18", "ImageNet validation", 50_000)
NEWCOMER_MODES = 20


def demo_prepare(server: str) -> Iterator[str]:
    user, words = demo_user()
    board = demo_board(user, server)
    if not Workload.objects.filter(owner=user).exists():
        yield "  measuring emulated workloads for the demo …"
        demo_measurements(user, board)
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


def demo_board(user: User, server: str) -> Device:
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
    if not file.exists() or not ApiToken.objects.filter(device=board, revoked=None).exists():
        _, text = token_create(user=user, name="demo agent", scopes=["device"], device=board, days=None)
        write_private(file, as_toml(demo_agent(server, text)))
    config = load_config(file)
    if config.server != server:
        write_private(file, as_toml(replace(config, server=server)))
    return board


def demo_agent(server: str, token: str) -> AgentConfig:
    return AgentConfig(
        server=server,
        token=token,
        device=BOARD,
        driver="emulated",
        device_model=DEVICE_MODEL,
        state=settings.DATA_DIR / "agent",
        broker=settings.CELERY_BROKER_URL,
        broker_folder=settings.DATA_DIR / "broker",
        poll_s=5.0,
        speed=SPEED,
    )


def demo_measurements(user: User, board: Device) -> None:
    """Through the same door as anybody's file, so that each run leads back to a file and a line."""
    ranges = board.device_model.ranges
    for network in REFERENCES:
        demo_workload(user, board, network, [tuple(mode) for mode in powertrain_grid(ranges)])
    newcomer = demo_workload(user, board, NEWCOMER, newcomer_modes(ranges))
    demo_workload(user, board, UNTOUCHED, [])
    predictor_request(workload=newcomer, device_model=board.device_model, user=user)


def newcomer_modes(ranges: KnobRange) -> list[tuple[int, ...]]:
    return [
        tuple(ranges.maximum),
        *(tuple(mode) for mode in random_modes(ranges, NEWCOMER_MODES - 1, seed=0)),
    ]


@transaction.atomic
def demo_workload(
    user: User, board: Device, network: tuple[str, str, int], modes: list[tuple[int, ...]]
) -> Workload:
    name, dataset, samples = network
    workload = workload_create(
        user=user,
        name=f"{name} / {dataset} (emulated)",
        kind=Workload.Kind.TRAINING,
        network=name,
        dataset=dataset,
        minibatch=16,
        loader_workers=4,
        samples_per_epoch=samples,
        notes="Measured on an emulated board only.",
    )
    if modes:
        demo_upload(user, board, workload, modes)
    return workload


def demo_upload(user: User, board: Device, workload: Workload, modes: list[tuple[int, ...]]) -> None:
    table = pd.DataFrame(modes, columns=list(KNOB_NAMES))
    demand = EmulatedWorkload(
        workload.network, workload.kind, workload.minibatch, workload.loader_workers or 0
    )
    table["time_ms"], table["power_mw"] = emulated_table(
        catalogue_entry(DEVICE_MODEL), demand, table.to_numpy()
    )
    file = received([table.round(3).to_csv(index=False).encode()], name=f"{workload.slug}.csv")
    upload, _ = upload_receive(
        file=file, user=user, workload=workload, device_model=board.device_model, device=board, emulated=True
    )
    upload_work(upload_id=upload.pk)


def write_private(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text)
