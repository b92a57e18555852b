"""How the board was found: on disk before the first write, so that a killed process leaves a way back."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from profiling.board.files import Tree, Unreadable
from profiling.errors import BoardError

STATE_FILE = "var/lib/jetsonlab/board-state.jsonl"
BOOT_ID = "proc/sys/kernel/random/boot_id"
# What these hold is the hardware's doing once the lock beside them is released.
UNSTABLE = {"rate", "clk_update_rate"}


class Journal:
    """Original values of every file written, one JSON line each after a first line naming the boot.

    A torn last line was never followed by its write, so it is ignored. A reboot puts the board back by
    itself: a journal of another boot is dropped.
    """

    def __init__(self, tree: Tree, file: Path) -> None:
        self.tree, self.file = tree, file
        self.boot = tree.text_or(BOOT_ID)
        self.found: dict[str, str] = self._load()

    @property
    def pending(self) -> bool:
        return bool(self.found)

    def remember(self, paths: Iterable[str]) -> None:
        """Save the present value of each file not saved yet; those that cannot be read are passed over."""
        fresh: dict[str, str] = {}
        for path in paths:
            if path not in self.found and self.tree.exists(path):
                try:
                    fresh[path] = self.tree.text(path)
                except Unreadable:
                    continue
        if fresh:
            self._append(fresh)
            self.found.update(fresh)

    def put_back(self) -> None:
        """Write everything back and forget it; BoardError listing the files that refused.

        1. Every core comes on, for its clocks can be written only then.
        2. Every other file, last written first, again until each reads as it was: which of a minimum and
           a maximum must go first depends on where they stand, and trying again needs no such rule.
        3. Cores that were off go off.
        """
        cores = {path: value for path, value in self.found.items() if path.endswith("/online")}
        others = {path: value for path, value in reversed(self.found.items()) if path not in cores}
        self._write(dict.fromkeys(cores, "1"))
        refused = others
        for _ in range(3):
            refused = self._write(refused)
        refused |= self._write({path: value for path, value in cores.items() if value == "0"})
        self.forget()
        if refused:
            listed = ", ".join(f"/{path} (was {value})" for path, value in refused.items())
            raise BoardError(f"could not put back {listed}; a reboot will", paths=list(refused))

    def forget(self) -> None:
        self.found = {}
        self.file.unlink(missing_ok=True)

    def _write(self, values: dict[str, str]) -> dict[str, str]:
        """Write each value; those that do not read back."""
        refused = {}
        for path, value in values.items():
            try:
                if self.tree.text_or(path) != value:
                    self.tree.write(path, value)
                if self.tree.text(path) != value and path.rsplit("/", 1)[-1] not in UNSTABLE:
                    refused[path] = value
            except BoardError:
                refused[path] = value
        return refused

    def _load(self) -> dict[str, str]:
        if not self.file.exists():
            return {}
        lines = list(_entries(self.file.read_text(errors="replace")))
        if not lines or lines[0].get("boot") != self.boot:
            self.file.unlink()
            return {}
        return {entry["path"]: entry["value"] for entry in lines[1:] if {"path", "value"} <= entry.keys()}

    def _append(self, values: dict[str, str]) -> None:
        """On the disk when this returns; BoardError, with nothing changed yet, when that cannot be."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            lines = [] if self.file.exists() else [{"boot": self.boot}]
            lines += [{"path": path, "value": value} for path, value in values.items()]
            with self.file.open("a") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BoardError(
                f"cannot save the board's state in {self.file}: {error.strerror}; no knob was turned"
            ) from error


def _entries(text: str) -> Iterator[dict[str, str]]:
    """The file's whole lines, up to the first torn one."""
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            return
        if not isinstance(entry, dict):
            return
        yield entry
