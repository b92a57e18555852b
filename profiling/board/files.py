"""Reading and writing the kernel's files, on a board or on a tree that looks like one.

Paths are given relative to the root ("sys/class/devfreq"), so the same driver runs on `/` and on a
folder. Tests and the emulated board replace `Tree` to play the kernel; nothing else touches a file.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from profiling.errors import BoardError


class Unreadable(BoardError):
    """A kernel file is absent, empty, or holds something else than expected; the message says which."""


class Unsettled(BoardError):
    """The kernel took the value and holds another."""

    def __init__(self, what: str, asked: int, settled: int) -> None:
        super().__init__(
            f"{what}: asked for {asked}, the kernel settled on {settled}; a firmware or nvpmodel cap may "
            "hold it (set the board's MAXN mode first)",
            knob=what,
            asked=asked,
            settled=settled,
        )


def natural(text: str) -> list[tuple[int, str]]:
    """Sort key that puts cpu2 before cpu10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


class Tree:
    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.prefix = f"{str(root).rstrip('/')}/"

    def exists(self, path: str) -> bool:
        return os.path.exists(self.prefix + path)  # unlike Path.exists, False behind a closed debugfs

    def find(self, pattern: str) -> list[str]:
        """Paths matching a glob, in natural order."""
        found = (str(path.relative_to(self.root)) for path in self.root.glob(pattern))
        return sorted(found, key=natural)

    def text(self, path: str) -> str:
        """The file's words; Unreadable when there are none to be had."""
        try:
            with open(self.prefix + path, errors="replace") as file:
                text = file.read().strip("\0 \t\r\n")
        except OSError as error:
            raise Unreadable(f"/{path}: {error.strerror}") from error
        if not text:
            raise Unreadable(f"/{path} is empty")
        return text

    def number(self, path: str) -> int:
        text = self.text(path)
        try:
            return int(text)
        except ValueError as error:
            raise Unreadable(f"/{path} holds {text[:40]!r}, not a whole number") from error

    def numbers(self, path: str) -> list[int]:
        """Every whole number in the file: "204000 665600 (kHz)" gives two."""
        return [int(word) for word in re.findall(r"\b\d+\b", self.text(path))]

    def text_or(self, path: str, otherwise: str = "") -> str:
        try:
            return self.text(path)
        except Unreadable:
            return otherwise

    def write(self, path: str, value: str | int) -> None:
        """Write one value; BoardError in the kernel's words when it refuses."""
        try:
            with open(self.prefix + path, "w") as file:
                file.write(str(value))
        except OSError as error:
            hint = "; run this as root, or through jetsonlab-boardd" if error.errno in (1, 13) else ""
            raise BoardError(f"/{path}: writing {value} failed: {error.strerror}{hint}") from error


def by_name(tree: Tree, pattern: str, names: set[str]) -> Iterator[tuple[str, str]]:
    """Folders matching `pattern` whose file `name` holds one of `names`: (folder, name)."""
    for folder in tree.find(pattern):
        name = tree.text_or(f"{folder}/name")
        if name in names:
            yield folder, name
