"""The boards of the catalogue, for every test about hardware."""

import json
from pathlib import Path

import pytest

CATALOGUE = Path(__file__).parents[2] / "profiling" / "catalog" / "device_models.json"
ENTRIES = {entry["slug"]: entry for entry in json.loads(CATALOGUE.read_text())["device_models"]}


@pytest.fixture
def orin():
    return ENTRIES["agx-orin"]
