"""Private servers for tests, on free ports and gone afterwards; never the machine's own."""

import contextlib
import glob
import itertools
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_until

REQUIRED = os.environ.get("JETSONLAB_REQUIRE_SERVICES") == "1"


def missing(what: str) -> None:
    """A developer's machine may lack a server; CI may not."""
    (pytest.fail if REQUIRED else pytest.skip)(f"{what} is not installed")


# Of this process alone, and below those that outgoing connections take: nobody comes between the choice of a
# port and the server that will listen there.
PORTS = itertools.count(20_000 + 50 * (os.getpid() % 240))


def free_port() -> int:
    while True:
        port = next(PORTS)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    def opened() -> bool:
        assert process.poll() is None, f"{process.args!r} did not open port {port}"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        return False

    wait_until(opened)


@contextlib.contextmanager
def stopped_afterwards(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def redis_server(folder: Path, port: int | None = None) -> Iterator[str]:
    """URL of an empty Redis of our own."""
    if not (program := shutil.which("redis-server")):
        missing("redis-server")
    port = port or free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with stopped_afterwards(subprocess.Popen(command, stdout=subprocess.DEVNULL)) as process:
        wait_for_port(port, process)
        yield f"redis://127.0.0.1:{port}/0"


def postgres_programs() -> Path:
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    initdb = found[-1] if found else shutil.which("initdb")
    if not initdb:
        missing("PostgreSQL")
    return Path(initdb).resolve().parent


def not_as_root(folder: Path) -> dict[str, object]:
    """PostgreSQL refuses to run as root, so there it runs as nobody in a folder of nobody's."""
    if os.getuid() != 0:
        return {}
    shutil.chown(folder, "nobody")
    for parent in [folder, *folder.parents]:
        if parent.stat().st_uid == 0 and str(parent).startswith("/tmp/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    return {"user": "nobody"}


@contextlib.contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """URL of an empty database in a PostgreSQL of our own."""
    programs, data, port = postgres_programs(), folder / "pg", free_port()
    data.mkdir(mode=0o700)
    who = not_as_root(data)
    initdb = [programs / "initdb", "-D", data, "-U", "lab", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/", **who)  # type: ignore[call-overload]
    command = [
        programs / "postgres",
        "-D",
        data,
        "-p",
        str(port),
        "-k",
        "",
        "-c",
        "listen_addresses=127.0.0.1",
    ]
    command += ["-c", "fsync=off"]
    with stopped_afterwards(
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **who)  # type: ignore[call-overload]
    ) as process:
        wait_for_port(port, process)
        url = f"postgresql://lab@127.0.0.1:{port}/postgres"
        yield url


def chromium() -> str:
    if not (program := shutil.which("chromium") or shutil.which("chromium-browser")):
        missing("Chromium")
    return str(program)
