import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection
from kombu.transport import filesystem
from kombu.utils.json import dumps

from profiling import broker

QUEUE = "celery"
MESSAGE = {"body": "fit predictor 1"}


@pytest.fixture
def new_channel(tmp_path: Path) -> Callable[[], Any]:
    """A channel as each process has one, all on the same folder."""
    broker.make_folder_broker_safe()
    messages = tmp_path / "messages"
    messages.mkdir()
    folders = {"data_folder_in": str(messages), "data_folder_out": str(messages)}
    options = {**folders, "control_folder": str(tmp_path / "control")}
    return lambda: Connection("filesystem://", transport_options=options).channel()


def test_what_is_put_is_got_once(new_channel: Any) -> None:
    new_channel()._put(QUEUE, MESSAGE)
    reader = new_channel()
    assert reader._get(QUEUE) == MESSAGE
    with pytest.raises(Empty):
        reader._get(QUEUE)


def test_a_worker_that_looks_while_a_message_is_written_finds_none_yet(
    new_channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader, met = new_channel(), new_channel(), []

    def interrupted(message: Any) -> str:
        with pytest.raises(Empty):
            reader._get(QUEUE)
        met.append("nothing")
        return dumps(message)

    for module in (broker, filesystem):
        monkeypatch.setattr(module, "dumps", interrupted)
    writer._put(QUEUE, MESSAGE)
    assert (met, reader._get(QUEUE)) == (["nothing"], MESSAGE)


def test_a_worker_waits_for_a_table_of_queues_that_is_being_written(
    new_channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, found = filesystem.lock, []
    reader = threading.Thread(target=lambda: found.append(new_channel().get_table("wake")))

    def interrupted(file: Any, kind: int) -> None:
        if "wake" in file.name and not reader.ident:  # the table is there, and still empty
            reader.start()
            reader.join(0.1)
        lock(file, kind)

    monkeypatch.setattr(filesystem, "lock", interrupted)
    new_channel()._queue_bind("wake", QUEUE, "", QUEUE)
    reader.join(10)
    assert [[each.queue for each in table] for table in found] == [[QUEUE]]
