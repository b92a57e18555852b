"""The broker that is a folder, safe for a worker that looks into it while somebody writes.

kombu's own opens a file before it fills it: a worker that looks in between reads an empty message, or an
empty table of queues, and ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]  # as kombu's own
        """Written aside and moved in whole; the name sorts by time, as kombu's readers expect."""
        folder, name = Path(self.data_folder_out), f"{round(monotonic() * 1000)}_{uuid4()}"
        aside = folder / f"{name}.part"
        aside.write_text(dumps(payload))
        aside.replace(folder / f"{name}.{queue}.msg")

    def get_table(self, exchange: str) -> Any:
        with self._alone():
            return super().get_table(exchange)

    def _queue_bind(self, *binding: Any) -> None:
        with self._alone():
            super()._queue_bind(*binding)

    def _delete(self, *binding: Any, **more: Any) -> None:
        with self._alone():
            super()._delete(*binding, **more)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.control_folder.mkdir(parents=True, exist_ok=True)
        with (self.control_folder / "tables.lock").open("w") as file:
            filesystem.lock(file, filesystem.LOCK_EX)  # closing the file lets go
            yield


class Transport(filesystem.Transport):
    Channel = Channel


def make_folder_broker_safe() -> None:
    """Let every filesystem:// of this process be the one above."""
    TRANSPORT_ALIASES["filesystem"] = "profiling.broker:Transport"
