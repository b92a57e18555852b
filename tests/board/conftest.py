"""The boards of the catalogue, for every test about hardware."""

import json
from pathlib import Path

import pytest

from profiling.board.emulation.kernel import EmulatedTree
from profiling.board.emulation.layout import build
from profiling.board.files import Tree
from profiling.board.sysfs import BoardRules, SysfsBoard

CATALOGUE = Path(__file__).parents[2] / "profiling" / "catalog" / "device_models.json"
ENTRIES = {entry["slug"]: entry for entry in json.loads(CATALOGUE.read_text())["device_models"]}


@pytest.fixture
def orin():
    return ENTRIES["agx-orin"]


@pytest.fixture
def root(tmp_path, orin):
    build(orin, tmp_path)
    return tmp_path


def put(root, path, text):
    (root / path).write_text(text)


def board_of(slug, root, *, kernel=True, bwmgr=False, caps=None):
    entry = ENTRIES[slug]
    if not (root / "proc").exists():
        build(entry, root, bwmgr=bwmgr)
    tree = EmulatedTree(root, caps) if kernel else Tree(root)
    return SysfsBoard(root, BoardRules.from_entry(entry), tree=tree)
