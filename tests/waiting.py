"""Waiting for what must come, however busy the machine: a time limit only bounds how long a failure takes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_until(found: Callable[[], Any], seconds: float = 120) -> Any:
    """What `found` answers once it is true."""
    deadline = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain"
        time.sleep(0.05)
    return answer


def ended(pid: int) -> bool:
    """Gone, or a zombie nobody has fetched yet."""
    command = Path(f"/proc/{pid}/cmdline")
    return not command.exists() or not command.read_bytes()
