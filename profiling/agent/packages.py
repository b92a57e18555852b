"""Users' own workloads on the board's disk: fetched once, checked again, unpacked, kept by their hash."""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from profiling.errors import InvalidInput
from profiling.workloads.package import inspect, unpack

# sha256 -> the file's bytes, piece by piece.
Download = Callable[[str], AbstractContextManager[Iterator[bytes]]]
KEPT = 4


@dataclass(frozen=True)
class PackageCache:
    """`folder` holds one folder a package, named by the SHA-256 of its file; the newest few are kept.

    A workload that runs as nobody must be able to look into it: every folder above needs mode o+x.
    """

    folder: Path
    download: Download

    def place(self, told: Mapping[str, Any]) -> Path:
        """What the runner takes as --file, for a package as the server tells it: filename, sha256, size.

        InvalidInput when the file is not the one the server told of, or not fit to be unpacked.
        """
        sha256, filename = told["sha256"], told["filename"]
        kept = self.folder / sha256
        if not kept.exists():
            self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            self._forget_old()
            self._fetch(sha256, filename, told["size"], kept)
        kept.touch()
        return next((path for path in kept.glob("workload.*") if path.suffix != ".py"), kept)

    def _fetch(self, sha256: str, filename: str, size: int, kept: Path) -> None:
        """A folder appears under its hash only once it is whole."""
        file, half = self.folder / f"{sha256}.part", self.folder / f"{sha256}.unpacking"
        shutil.rmtree(half, ignore_errors=True)
        try:
            self._download(sha256, size, file)
            unpack(inspect(file, filename), half)
            half.rename(kept)
        finally:
            file.unlink(missing_ok=True)

    def _download(self, sha256: str, size: int, file: Path) -> None:
        digest, left = hashlib.sha256(), size
        with self.download(sha256) as pieces, file.open("wb") as target:
            for piece in pieces:
                left -= len(piece)
                if left < 0:
                    break
                digest.update(piece)
                target.write(piece)
        if left or digest.hexdigest() != sha256:
            raise InvalidInput(f"The package {sha256[:12]}… came otherwise than the server told: not run.")

    def _forget_old(self) -> None:
        """Leave room for the next; one that is in use is newer than all but its like."""
        by_age = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in by_age[KEPT - 1 :]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
