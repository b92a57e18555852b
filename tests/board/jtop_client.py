"""Reads the board by jtop, turns its knobs by sysfs, and prints what it saw as one JSON line."""

import contextlib
import json
from pathlib import Path

from profiling.board.emulation.kernel import EmulatedTree
from profiling.board.jtop import JtopBoard
from profiling.errors import BoardError
from profiling.knobs import Knobs
from tests.waiting import wait_until


def started():
    with contextlib.suppress(BoardError):  # the service is still coming up
        return JtopBoard(tree=EmulatedTree(Path("/")), state_file=Path("/run/board-state.jsonl"))
    return None


def reading_of(cores):
    """The service looks at the board by its own clock."""
    seen = board.read()
    return seen if seen.total_mw and seen.online == cores else None


board = wait_until(started, 60)
before, found = wait_until(lambda: reading_of(8)), board.current()
applied = board.apply(Knobs(6, 1344000, 726750, 2133000))
after = wait_until(lambda: reading_of(6))
board.restore()
restored = board.current()
board.close()
seen = {"before": before.as_dict(), "after": after.as_dict(), "applied": applied}
print(json.dumps(seen | {"put_back": restored == found}))
