"""Boards join the lab: registered by an engineer, given a token, enrolled by their own agent."""

import shlex
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from profiling.errors import InvalidInput
from profiling.models import ApiToken, Device, DeviceModel
from profiling.services.audit import Action, audit
from profiling.services.catalog import power_modes_store
from profiling.services.checks import check_fields
from profiling.services.slugs import free_slug
from profiling.services.tokens import token_create

Driver = Device.Driver
# What a host's clocks are until it enrols: it lacks the GPU's and the memory's for good.
UNKNOWN_KNOBS = {"cores": [1], "cpu_khz": [0], "gpu_khz": [0], "mem_khz": [0]}


@transaction.atomic
def device_create(
    *,
    user: User,
    name: str,
    driver: str = Driver.SYSFS,
    device_model: DeviceModel | None = None,
    location: str = "",
    notes: str = "",
) -> Device:
    """A board of a known device model; or an ordinary machine, which gets a device model of its own."""
    name = name.strip()
    _check_kind(driver, device_model)
    slug = free_slug(Device, name, 40)
    device = Device(name=name, slug=slug, driver=driver, location=location, notes=notes, owner=user)
    device.device_model = device_model or host_model_create(slug=slug)
    check_fields(device)
    device.save()
    audit(Action.DEVICE_CREATE, device, user=user, driver=driver, device_model=device.device_model)
    return device


def _check_kind(driver: str, device_model: DeviceModel | None) -> None:
    if driver == Driver.HOST and device_model is not None:
        said = "an ordinary machine tells its own knobs when it enrols; leave the device model away"
    elif driver != Driver.HOST and device_model is None:
        said = "name the board's device model; only the driver host goes without"
    else:
        return
    raise InvalidInput(f"device_model: {said}.", errors={"device_model": [said]})


def host_model_create(*, slug: str) -> DeviceModel:
    device_model = DeviceModel.objects.create(
        name=f"Host {slug}",
        slug=free_slug(DeviceModel, f"host-{slug}", 45),
        generation=DeviceModel.HOST,
        soc="host",
        gpu="none used",
        **UNKNOWN_KNOBS,
        knobs_note="An ordinary machine: as many cores as it has; 0 stands for a knob it lacks.",
        total_note="All RAPL packages, where they can be read.",
    )
    power_modes_store(device_model=device_model)
    return device_model


@transaction.atomic
def host_model_update(*, device_model: DeviceModel, ranges: dict[str, list[int]]) -> None:
    """What the machine found of itself. Modes it no longer has keep their rows, for the runs there are."""
    for name, values in ranges.items():
        setattr(device_model, name, values)
    device_model.save(update_fields=list(ranges))
    power_modes_store(device_model=device_model)


def device_token_create(*, device: Device, user: User) -> tuple[ApiToken, str]:
    """A token for the board's agent, until it is revoked; its text is known only now."""
    name = f"agent of {device}"[:100]
    return token_create(user=user, name=name, scopes=["device"], days=None, device=device)


def enrol_command(*, device: Device, server: str, token: str) -> str:
    """What to type on the board."""
    words: dict[str, Any] = {"server": server.rstrip("/"), "token": token, "device": device.slug}
    words["driver"] = device.driver
    if device.driver != Driver.HOST:
        words["device-model"] = device.device_model.slug
    pairs = (f"--{name} {shlex.quote(str(value))}" for name, value in words.items())
    return " ".join(["./jetsonlab-agent enroll", *pairs])
