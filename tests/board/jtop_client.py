"""Reads the board by jtop, turns its knobs by sysfs, and prints what it saw as one JSON line."""

import json
import time
from pathlib import Path

from profiling.board.emulation.kernel import EmulatedTree
from profiling.board.jtop import JtopBoard
from profiling.errors import BoardError
from profiling.knobs import Knobs


def patient_board():
    for _ in range(100):
        try:
            return JtopBoard(tree=EmulatedTree(Path("/")), state_file=Path("/run/board-state.jsonl"))
        except BoardError:
            time.sleep(0.1)
    raise SystemExit("the service did not come up")


board = patient_board()
time.sleep(1.2)
before, found = board.read(), board.current()
applied = board.apply(Knobs(6, 1344000, 726750, 2133000))
time.sleep(1.5)
after = board.read()
board.restore()
restored = board.current()
board.close()
seen = {"before": before.as_dict(), "after": after.as_dict(), "applied": applied}
print(json.dumps(seen | {"put_back": restored == found}))
