"""What the server's machine refuses: room on its disk, or a turn at its database. No request is at fault."""

import errno

from django.db import OperationalError

from profiling.errors import Busy, LabError, StorageFull

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FULL_WORDS = ("database or disk is full", "no space left on device")
BUSY_WORDS = ("database is locked", "database table is locked", "deadlock detected")


def is_full(error: Exception) -> bool:
    """Whether a disk is, as files or as databases say it."""
    if isinstance(error, OperationalError):
        return any(words in str(error).lower() for words in FULL_WORDS)
    return isinstance(error, OSError) and error.errno in FULL


def outage_of(error: Exception) -> LabError | None:
    if is_full(error):
        return StorageFull()
    if isinstance(error, OperationalError) and any(words in str(error).lower() for words in BUSY_WORDS):
        return Busy()
    return None
