"""A user's own workload: a zip with workload.py, a torch.export file, or an ONNX file, checked before use.

Nothing is unpacked, let alone run, before the whole file has been found harmless to unpack. What its code
does when run is the sandbox's business.
"""

import os
import re
import shutil
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from profiling.errors import InvalidInput, TooLarge

Kind = Literal["python", "export", "onnx"]
KINDS: dict[str, Kind] = {".zip": "python", ".pt2": "export", ".onnx": "onnx"}
ENTRY = "workload.py"
PLAIN = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
DRIVE = re.compile(r"^[A-Za-z]:")
CHUNK = 1 << 20


@dataclass(frozen=True)
class PackageLimits:
    """bytes: of the upload. unpacked_bytes, files, depth: of its contents. ratio: unpacked over packed, of
    any one file above 1 MiB; honest weights hardly shrink, a zip bomb unpacks a thousandfold."""

    bytes: int = 512 << 20
    unpacked_bytes: int = 2 << 30
    files: int = 2000
    depth: int = 20
    ratio: float = 100.0


@dataclass(frozen=True)
class Package:
    """A workload file that passed: `kind` says how the runner takes it."""

    path: Path
    kind: Kind
    files: int
    unpacked_bytes: int


def inspect(path: Path, name: str | None = None, limits: PackageLimits | None = None) -> Package:
    """Check the upload at `path`, called `name` by its user, without unpacking it.

    TooLarge when the file itself is; InvalidInput with every fault in `errors` otherwise.
    """
    limits, name = limits or PackageLimits(), name or path.name
    size = path.stat().st_size
    if size > limits.bytes:
        raise TooLarge(f"{name} has {size:,} bytes; a workload may have {limits.bytes:,}.")
    kind = KINDS.get(Path(name).suffix.lower())
    if kind is None:
        raise InvalidInput(f"{name} is no workload: send a {', '.join(KINDS)} file.")
    if kind == "onnx":
        if size == 0:
            raise InvalidInput(f"{name} is empty.")
        return Package(path, kind, 1, size)
    with _opened(path, name) as archive:
        entries = archive.infolist()
    faults = list(_faults(entries, kind, limits))
    if faults:
        raise InvalidInput(f"{name} was not unpacked: {faults[0]}", errors=faults)
    return Package(path, kind, len(entries), sum(entry.file_size for entry in entries))


def unpack(package: Package, folder: Path, limits: PackageLimits | None = None) -> Path:
    """Lay the package out in the new `folder`, readable by all and writable by us alone.

    Returns what the runner takes as --file: the folder, or the .pt2 or .onnx file in it. Counts the bytes
    as they come, for a zip's own figures may lie: TooLarge then, and `folder` is removed again.
    """
    limits = limits or PackageLimits()
    folder.mkdir(parents=True)
    try:
        if package.kind == "python":
            _unpack_zip(package.path, folder, limits)
            target = folder
        else:
            suffix = {"export": ".pt2", "onnx": ".onnx"}[package.kind]
            target = folder / f"workload{suffix}"
            shutil.copyfile(package.path, target)
    except BaseException:
        shutil.rmtree(folder)
        raise
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target


def _opened(path: Path, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise InvalidInput(f"{name} is not a zip archive ({error}).") from error


def _faults(entries: list[zipfile.ZipInfo], kind: Kind, limits: PackageLimits) -> Iterator[str]:
    total = sum(entry.file_size for entry in entries)
    if len(entries) > limits.files:
        yield f"{len(entries):,} files, {limits.files:,} are allowed"
        return
    if total > limits.unpacked_bytes:
        yield f"{total:,} bytes unpacked, {limits.unpacked_bytes:,} are allowed"
    names = [str(PurePosixPath(entry.filename)) for entry in entries]
    for name in sorted(name for name, count in Counter(names).items() if count > 1):
        yield f"{name!r} is in it twice"
    files = {name for name, entry in zip(names, entries, strict=True) if not entry.filename.endswith("/")}
    for name in names:
        if any(str(parent) in files for parent in PurePosixPath(name).parents):
            yield f"{name!r} lies inside a file"
    for entry in entries:
        yield from (f"{entry.filename!r} {fault}" for fault in _entry_faults(entry, limits))
    if kind == "python" and ENTRY not in files:
        deeper = [name for name in sorted(files) if name.endswith(f"/{ENTRY}")]
        hint = f"; zip what is inside {deeper[0].removesuffix(ENTRY)}, not the folder" if deeper else ""
        yield f"no {ENTRY} at its top{hint}"


def _entry_faults(entry: zipfile.ZipInfo, limits: PackageLimits) -> Iterator[str]:
    name, mode = entry.orig_filename, entry.external_attr >> 16
    parts = PurePosixPath(name).parts
    if (
        name.startswith("/")
        or "\\" in name
        or "\0" in name
        or ".." in parts
        or DRIVE.match(name)
        or not parts
    ):
        yield "would be unpacked outside its folder"
    if len(parts) > limits.depth or any(len(part.encode()) > 255 for part in parts):
        yield "has too long a path"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield "is a link or a special file; only plain files are taken"
    if entry.flag_bits & 0x1:
        yield "is encrypted"
    if entry.compress_type not in PLAIN:
        yield "is compressed in an unusual way; use plain zip (deflate)"
    if entry.file_size > CHUNK and entry.file_size > limits.ratio * max(entry.compress_size, 1):
        yield f"would unpack to more than {limits.ratio:g} times its size"


def _unpack_zip(path: Path, folder: Path, limits: PackageLimits) -> None:
    left = limits.unpacked_bytes
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            place = folder / entry.filename
            if entry.filename.endswith("/"):
                place.mkdir(parents=True, exist_ok=True)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            # O_EXCL, O_NOFOLLOW: nothing unpacked before may redirect what follows.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with archive.open(entry) as source, open(os.open(place, flags, 0o600), "wb") as target:
                left -= _copy(source, target, min(left, entry.file_size), entry.filename)


def _copy(source: IO[bytes], target: IO[bytes], most: int, name: str) -> int:
    copied = 0
    try:
        while chunk := source.read(CHUNK):
            copied += len(chunk)
            if copied > most:
                raise TooLarge(f"{name!r} unpacks to more than the {most:,} bytes it states.")
            target.write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InvalidInput(f"{name!r} cannot be unpacked: {error}") from error
    return copied
