"""The standing cast: `orin`, a board of 36 modes; Vera who views, Eng who works, Ada who owns."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from rest_framework.test import APIClient

from profiling.models import Device, DeviceModel, Workload
from profiling.services.catalog import ROLES, device_model_seed
from tests.tokens import EVERYTHING, program_with, token_of

# The same examples each time, however slow the machine; `--hypothesis-profile=default` looks for others.
hypothesis_settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("steady")

ORIN: dict[str, Any] = {
    "slug": "orin-mini",
    "name": "Orin Mini",
    "generation": "Orin",
    "soc": "T234",
    "gpu": "Ampere",
    "cores": [2, 4, 6],
    "cpu_khz": [268_800, 1_190_400, 2_201_600],
    "gpu_khz": [318_750, 1_300_500],
    "mem_khz": [665_600, 3_199_000],
    "rails": ["VDD_IN"],
    "total_rails": ["VDD_IN"],
    "presets": [
        {
            "id": 0,
            "name": "MAXN",
            "cores": 6,
            "cpu_khz": 2_201_600,
            "gpu_khz": 1_300_500,
            "mem_khz": 3_199_000,
        },
        {"id": 1, "name": "LOW", "cores": 2, "cpu_khz": 1_190_400, "gpu_khz": 318_750, "mem_khz": 665_600},
        {"id": 2, "name": "SECRET", "cores": 4, "cpu_khz": None, "gpu_khz": None, "mem_khz": None},
    ],
}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The public measurements, where a developer has them."""
    folder = Path(os.environ.get("JETSONLAB_SHARED", Path(__file__).parent.parent.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip("public measurements not present")
    return folder


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path) -> None:
    """Nothing a test uploads lands among the user's files."""
    settings.MEDIA_ROOT = tmp_path / "files"


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    """A strong hash costs half a second a person, and no test is about its strength."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def own_rates() -> None:
    """No test pays for the requests of another."""
    cache.clear()


@pytest.fixture
def orin(db: None) -> DeviceModel:
    return device_model_seed(entry=ORIN)


@pytest.fixture
def board(orin: DeviceModel) -> Device:
    return Device.objects.create(
        slug="desk-1", name="Desk 1", device_model=orin, driver=Device.Driver.EMULATED
    )


def person(name: str, role: str) -> User:
    for each in ROLES:
        Group.objects.get_or_create(name=each)
    user = User.objects.create_user(name, password=f"{name}-long-password", is_staff=role == "admin")
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def vera(db: None) -> User:
    return person("vera", "viewer")


@pytest.fixture
def eng(db: None) -> User:
    return person("eng", "engineer")


@pytest.fixture
def ada(db: None) -> User:
    user = person("ada", "admin")
    user.is_superuser = True
    user.save()
    return user


@pytest.fixture
def resnet(eng: User) -> Workload:
    return Workload.objects.create(
        slug="resnet",
        name="ResNet-18 / ImageNet",
        kind="training",
        network="ResNet-18",
        dataset="ImageNet",
        minibatch=16,
        samples_per_epoch=50_000,
        owner=eng,
    )


@pytest.fixture
def browser(eng: User) -> Client:
    """Eng's browser session, without a browser."""
    client = Client()
    client.force_login(eng)
    return client


@pytest.fixture
def api(eng: User) -> APIClient:
    """Eng's program, with a token of every scope but `device`."""
    return program_with(token_of(eng, *EVERYTHING))
