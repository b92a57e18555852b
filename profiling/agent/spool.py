"""Finished runs on the board's disk until the server has them: a power cut or a long absence loses none."""

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from profiling.errors import InvalidInput, LabError

log = logging.getLogger(__name__)
SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class SpoolFull(LabError):
    """The disk did not take a run; it is still in memory, and lost if the agent ends now."""

    status = 507
    code = "spool_full"


class Spool:
    """One file a run in `folder`: the SHA-256 of the body on the first line, the body as JSON on the second.

    Files appear whole or not at all (written beside, synced, renamed). What cannot be read back goes to
    `folder`/set-aside and is logged; nothing is deleted but what was delivered.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.aside = folder, folder / "set-aside"
        self.unsaved: dict[str, dict[str, Any]] = {}
        self.aside.mkdir(parents=True, exist_ok=True)
        for leftover in sorted(folder.glob("*.part")):
            self._set_aside(leftover, "its writing was interrupted")

    def put(self, run: str | int, body: dict[str, Any]) -> None:
        """Keep the result of `run`, replacing an earlier one of it.

        SpoolFull when the disk did not take it: it is then kept in memory, and `save` tries again.
        """
        name = str(run)
        if not SAFE_NAME.fullmatch(name):
            raise InvalidInput(f"{name!r} cannot be a run's name in the spool: letters, digits, - and _ only")
        self.unsaved[name] = body
        self.save()

    def save(self) -> None:
        """Write what only memory holds; SpoolFull when the disk still does not take it."""
        for name in list(self.unsaved):
            try:
                self._write(name, self.unsaved[name])
            except OSError as error:
                raise SpoolFull(
                    f"The spool {self.folder} does not take run {name}: {error.strerror}. "
                    f"{len(self.unsaved)} run(s) are kept in memory only: free some space, and leave the "
                    "agent running."
                ) from error
            del self.unsaved[name]

    def waiting(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(run, body) of everything not delivered yet, oldest first, also what only memory holds."""
        for path in sorted(self.folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name)):
            body = self._read(path)
            if body is not None and path.stem not in self.unsaved:
                yield path.stem, body
        yield from list(self.unsaved.items())

    def delivered(self, run: str | int) -> None:
        """The server has it: forget it. Twice is no error."""
        self.unsaved.pop(str(run), None)
        self._path(str(run)).unlink(missing_ok=True)

    def __len__(self) -> int:
        return len({path.stem for path in self.folder.glob("*.json")} | set(self.unsaved))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _write(self, name: str, body: dict[str, Any]) -> None:
        text = json.dumps(body, allow_nan=False).encode()
        part = self.folder / f"{name}.part"
        try:
            with part.open("wb") as file:
                file.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text + b"\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._path(name))
            self._sync_folder()
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def _sync_folder(self) -> None:
        """A rename is safe from a power cut only once its folder is on disk."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            digest, _, text = path.read_bytes().partition(b"\n")
            whole = hashlib.sha256(text.rstrip(b"\n")).hexdigest().encode() == digest
            body = json.loads(text) if whole else None
        except FileNotFoundError:
            return None
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._set_aside(path, "it is not what was written")
            return None
        return body

    def _set_aside(self, path: Path, why: str) -> None:
        place = self.aside / path.name
        count = 0
        while place.exists():
            count += 1
            place = self.aside / f"{path.name}.{count}"
        path.replace(place)
        log.warning("set aside %s: %s; look into %s", path.name, why, place)
