"""Files on their way in: spooled to disk, hashed and counted chunk by chunk, never held in memory."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.db.models.fields.files import FieldFile

from profiling.errors import StorageFull
from profiling.outages import is_full
from profiling.permissions import has_role


def incoming_folder() -> Path:
    """Beside the stored files, so that a finished upload is moved and not copied."""
    folder = Path(settings.MEDIA_ROOT) / "incoming"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def printable(name: str) -> str:
    """A file's name without line ends, NUL, and signs that turn what follows around."""
    return "".join(letter if letter.isprintable() else "_" for letter in name)


class ReceivedFile(TemporaryUploadedFile):
    """A file as it arrives. One over UPLOAD_MAX_BYTES, or over what the disk holds, is no longer kept but
    counted on."""

    size: int
    disk_full = False

    def __init__(self, name: str, content_type: str | None = None) -> None:
        self.spool = NamedTemporaryFile(dir=incoming_folder(), suffix=".part", buffering=0)  # noqa: SIM115 (see close)
        UploadedFile.__init__(self, self.spool, printable(name), content_type, 0)
        self._hash = hashlib.sha256()

    def take(self, chunk: bytes) -> None:
        self.size += len(chunk)
        if not self.too_large and not self.disk_full:
            self._hash.update(chunk)
            self._write(chunk)
        elif self.spool.tell():
            self.spool.seek(0)
            self.spool.truncate()

    def _write(self, chunk: bytes) -> None:
        """Unbuffered, since what stands in a buffer fails later, where nobody expects it."""
        left = memoryview(chunk)
        try:
            while left:
                left = left[self.spool.write(left) :]
        except OSError as error:
            if not is_full(error):
                raise
            self.disk_full = True
            self.spool.truncate(0)

    def finished(self) -> "ReceivedFile":
        self.spool.seek(0)
        return self

    def check_whole(self) -> None:
        """Before anything is made of it: while it arrives there is nobody yet to be told."""
        if self.disk_full:
            raise StorageFull

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
        if file.disk_full:
            file.close()
            raise StorageFull
    return file.finished()


@contextmanager
def kept_with_its_row(file: FieldFile) -> Iterator[None]:
    """What is stored inside goes again unless all inside goes well."""
    with ExitStack() as undo:
        undo.callback(file.delete, save=False)
        yield
        undo.pop_all()


class SpoolHandler(FileUploadHandler):
    """Django's own handlers would write any size to disk, and leave the hashing for a second pass."""

    file: ReceivedFile  # none as long as there is no file, as Django's parser looks for it

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if not has_role(getattr(self.request, "user", AnonymousUser()), "engineer"):
            raise SkipFile  # a form is read before its page asks who sends it: others could fill the disk
        self.file = ReceivedFile(self.file_name or "unnamed", self.content_type)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.file.take(raw_data)

    def file_complete(self, file_size: int) -> ReceivedFile:
        return self.file.finished()

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
