"""Files on their way in: spooled to disk, hashed and counted chunk by chunk, never held in memory."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler


def incoming_folder() -> Path:
    """Beside the stored files, so that a finished upload is moved and not copied."""
    folder = Path(settings.MEDIA_ROOT) / "incoming"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class ReceivedFile(TemporaryUploadedFile):
    """A file as it arrives. One over UPLOAD_MAX_BYTES is counted on but no longer kept."""

    size: int

    def __init__(self, name: str, content_type: str | None = None) -> None:
        self.spool = NamedTemporaryFile(dir=incoming_folder(), suffix=".part")  # noqa: SIM115 (see close)
        UploadedFile.__init__(self, self.spool, name, content_type, 0)
        self._hash = hashlib.sha256()

    def take(self, chunk: bytes) -> None:
        self.size += len(chunk)
        if not self.too_large:
            self._hash.update(chunk)
            self.spool.write(chunk)
        elif self.spool.tell():
            self.spool.seek(0)
            self.spool.truncate()

    def finished(self) -> "ReceivedFile":
        self.spool.flush()
        self.spool.seek(0)
        return self

    @property
    def too_large(self) -> bool:
        return self.size > settings.UPLOAD_MAX_BYTES

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


def received(chunks: Iterable[bytes], name: str) -> ReceivedFile:
    """A file that did not come over HTTP."""
    file = ReceivedFile(name)
    for chunk in chunks:
        file.take(chunk)
    return file.finished()


class SpoolHandler(FileUploadHandler):
    """Django's own handlers would write any size to disk, and leave the hashing for a second pass."""

    file: ReceivedFile | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = ReceivedFile(self.file_name or "unnamed", self.content_type)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self.file is not None
        self.file.take(raw_data)

    def file_complete(self, file_size: int) -> ReceivedFile | None:
        return self.file.finished() if self.file else None

    def upload_interrupted(self) -> None:
        if self.file:
            self.file.close()
