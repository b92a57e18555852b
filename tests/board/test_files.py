import subprocess
import sys
from pathlib import Path

import pytest

from profiling.board.files import Tree, Unreadable, by_name, natural
from profiling.errors import BoardError

ROOT = Path(__file__).parents[2]
BOARD = ROOT / "profiling/board"


@pytest.fixture
def tree(tmp_path):
    for name, text in {
        "a": "12\n",
        "empty": "",
        "zero": "model\0",
        "list": "204000 665600 (kHz)",
        "x": "1.5",
    }.items():
        (tmp_path / name).write_text(text)
    return Tree(tmp_path)


def test_it_reads_text_numbers_and_lists(tree):
    assert tree.text("zero") == "model"
    assert tree.number("a") == 12
    assert tree.numbers("list") == [204000, 665600]


@pytest.mark.parametrize(
    ("path", "why"),
    [("none", "/none: No such file"), ("empty", "/empty is empty"), ("x", "holds '1.5', not a whole number")],
)
def test_what_cannot_be_read_says_which_file_and_why(tree, path, why):
    with pytest.raises(Unreadable, match=why):
        tree.number(path)


def test_a_refused_write_is_told_in_the_kernels_words(tree):
    with pytest.raises(BoardError, match="/no/such: writing 5 failed: No such file or directory"):
        tree.write("no/such", 5)


def test_cpu10_comes_after_cpu2():
    assert sorted(["cpu10", "cpu2", "cpu1"], key=natural) == ["cpu1", "cpu2", "cpu10"]


def test_folders_are_found_by_the_name_inside(tree, tmp_path):
    for index, name in enumerate(("pwmfan", "ina238", "other")):
        folder = tmp_path / f"hwmon{index}"
        folder.mkdir()
        (folder / "name").write_text(name)
    assert list(by_name(tree, "hwmon*", {"ina238", "pwmfan"})) == [("hwmon0", "pwmfan"), ("hwmon1", "ina238")]


def test_boards_need_neither_django_nor_torch_nor_jtop():
    modules = [f"profiling.board.{path.stem}" for path in BOARD.glob("*.py") if path.stem != "__init__"]
    script = f"import sys, {', '.join(modules)}; print({{'django', 'torch', 'jtop'}} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT) == b"set()\n"
