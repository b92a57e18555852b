"""A file on disk, opened so that it can never unpack to more than was agreed."""

import codecs
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from profiling.formats.problems import FileTooLarge, FormatError, Limits

HEAD_BYTES = 1 << 16
GZIP, ZSTD, ZIP, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UNPACKING_ERRORS = (gzip.BadGzipFile, zlib.error, zstandard.ZstdError, EOFError)
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)  # LZMA may ask for 4 GiB at once
BROKEN = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, *UNPACKING_ERRORS)
ZIP_ERRORS = (ValueError, *BROKEN)


@dataclass(frozen=True)
class Source:
    """`path` holds the bytes; `filename` is what its owner called it.

    member: of a zip, the file that is meant; beside: the others. content: one such file, held here instead of
    on disk.
    """

    path: Path
    filename: str
    limits: Limits = field(default_factory=Limits)
    content: bytes | None = None
    member: str = ""
    beside: tuple[str, ...] = ()

    @cached_property
    def size(self) -> int:
        return self.path.stat().st_size if self.content is None else len(self.content)

    @cached_property
    def magic(self) -> bytes:
        with self._packed() as stream:
            return stream.read(4)

    def _packed(self) -> BinaryIO:
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    @property
    def compression(self) -> str | None:
        if self.member:
            return "zip"
        if self.magic.startswith(GZIP):
            return "gzip"
        return "zstd" if self.magic == ZSTD else None

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, unpacked."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The unpacked bytes, UTF-16 as UTF-8; FormatError when broken, FileTooLarge when over the limits."""
        with self._unpacked() as stream:
            yield _Recoded(self.filename, stream) if self.is_utf16 else stream  # type: ignore[misc]

    @cached_property
    def is_utf16(self) -> bool:
        """As spreadsheets and PowerShell write it. (UTF-32 begins alike, with two NUL bytes more.)"""
        with self._unpacked() as stream:
            start = stream.read(4)
        return start.startswith(UTF16) and start[2:] != b"\0\0"

    @contextmanager
    def _unpacked(self) -> Iterator[BinaryIO]:
        if self.size > self.limits.file_bytes:
            raise FileTooLarge(
                f"{self.filename} has {self.size:,} bytes; at most {self.limits.file_bytes:,} are read"
            )
        with self._packed() as packed:
            if self.compression is None:
                yield packed
            else:
                yield _Unpacked(self, packed)  # type: ignore[misc]

    def whole(self) -> bytes:
        """All unpacked bytes, for formats that cannot be read piece by piece."""
        most = self.limits.in_memory_bytes
        with self.open() as stream:
            content = stream.read(most + 1)
        if len(content) > most:
            raise FileTooLarge(
                f"{self.filename} is over {most:,} bytes; send it as CSV, JSON lines or Parquet"
            )
        return content

    @contextmanager
    def seekable(self) -> Iterator[BinaryIO]:
        """The file itself if it is not packed, else its unpacked bytes in memory."""
        if self.compression is None:
            with self._unpacked() as stream:
                yield stream
        else:
            yield io.BytesIO(self.whole())


class _Unpacked:
    """Reads a gzip or zstd file, or a file in a zip, counting what comes out."""

    def __init__(self, source: Source, packed: BinaryIO) -> None:
        self.source = source
        self.out = 0
        try:
            self.stream: Any = self._opened(packed)
        except BROKEN as error:
            raise self._broken(error) from error

    def _opened(self, packed: BinaryIO) -> Any:
        if self.source.member:
            return zipfile.ZipFile(packed).open(self.source.member)
        if self.source.compression == "gzip":
            return gzip.GzipFile(fileobj=packed)
        unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        return unpacker.stream_reader(packed, read_across_frames=True)

    def _broken(self, error: Exception) -> FormatError:
        return FormatError(f"{self.source.filename} is a broken {self.source.compression} file: {error}")

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise ValueError("say how many bytes: a packed file may be endless")
        pieces: list[bytes] = []
        while size > 0 and (piece := self._piece(min(size, 1 << 20))):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        try:
            piece = self.stream.read(size)
        except BROKEN as error:
            raise self._broken(error) from error
        self.out += len(piece)
        check_expansion(self.source.filename, self.source.size, self.out, self.source.limits)
        return piece


class _Recoded:
    """Reads UTF-16 text as UTF-8."""

    def __init__(self, filename: str, stream: BinaryIO) -> None:
        self.filename, self.stream = filename, stream
        self.decoder = codecs.getincrementaldecoder("utf-16")()
        self.ready = b""

    def read(self, size: int) -> bytes:
        while len(self.ready) < size and (piece := self.stream.read(1 << 16)):
            self.ready += self._decoded(piece)
        if len(self.ready) < size:
            self.ready += self._decoded(b"", final=True)
        taken, self.ready = self.ready[:size], self.ready[size:]
        return taken

    def _decoded(self, piece: bytes, final: bool = False) -> bytes:
        try:
            return self.decoder.decode(piece, final).encode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.filename} is broken UTF-16 text: {error.reason}") from error


def check_expansion(name: str, packed: int, unpacked: int, limits: Limits) -> None:
    if unpacked > limits.unpacked_bytes:
        raise FileTooLarge(f"{name} unpacks to more than {limits.unpacked_bytes:,} bytes")
    if unpacked > limits.expansion_from and unpacked > packed * limits.expansion:
        raise FileTooLarge(f"{name} unpacks to more than {limits.expansion} times its size; send it unpacked")


@contextmanager
def open_zip(source: Source) -> Iterator[zipfile.ZipFile]:
    """The zip, once its directory is known to keep the limits (a member is checked again as it is read)."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            members = archive.infolist()
            if len(members) > source.limits.files:
                raise FileTooLarge(
                    f"{source.filename} holds {len(members):,} files; the limit is {source.limits.files:,}"
                )
            if odd := [member.filename for member in members if member.compress_type not in ZIP_METHODS]:
                raise FormatError(
                    f"{odd[0]} in {source.filename} is packed by no method that we read; use Deflate"
                )
            unpacked = sum(member.file_size for member in members)
            check_expansion(source.filename, source.size, unpacked, source.limits)
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise FormatError(f"{source.filename} is a broken zip file: {error}") from error
