"""What web processes count together: wrong passwords, requests, codes already used. JSON, never pickle."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache
from django.core.files import locks

from profiling.outages import is_full

logger = logging.getLogger(__name__)


class JsonFileCache(FileBasedCache):
    """Django's cache in files: the expiry on the first line, the value on the second."""

    _dir: str
    _createdir: Callable[[], None]
    _delete: Callable[[str], bool]
    _key_to_file: Callable[[Any, int | None], str]

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Others use it as a lock, so only one process may win."""
        with self._alone():
            return super().add(key, value, timeout, version)

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """A full disk must not keep people from reading, so then nothing is counted."""
        try:
            super().set(key, value, timeout, version)
        except OSError as error:
            if not is_full(error):
                raise
            logger.error("The disk is full: %s is not counted", key)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            with Path(self._key_to_file(key, version)).open("rb") as file:
                return default if self._is_expired(file) else json.loads(file.readline())
        except FileNotFoundError:
            return default

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        value = self.get(key, missing := object(), version)
        if value is not missing:
            self.set(key, value, timeout, version)
        return value is not missing

    def _write_content(self, file: IO[bytes], timeout: Any, value: Any) -> None:
        expiry = self.get_backend_timeout(timeout)
        file.write(f"{json.dumps(expiry)}\n{json.dumps(value)}\n".encode())

    def _is_expired(self, file: IO[bytes]) -> bool:
        expiry = json.loads(file.readline() or b"0")
        if expired := expiry is not None and expiry < time.time():
            self._delete(file.name)
        return expired

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._createdir()
        with (Path(self._dir) / "lock").open("w") as file:
            locks.lock(file, locks.LOCK_EX)
            yield


class JsonSerializer:
    """For Redis, which increments whole numbers itself and so must see them plain."""

    def dumps(self, value: Any) -> int | bytes:
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)
