"""`jetsonlab-agent doctor`: each thing an agent needs, looked at."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from profiling.agent.client import ServerClient
from profiling.agent.config import AgentConfig
from profiling.agent.loop import only_agent
from profiling.agent.making import make_board
from profiling.agent.spool import Spool
from profiling.board.base import Board
from profiling.errors import Conflict, LabError


@dataclass(frozen=True)
class Finding:
    what: str
    found: str
    good: bool
    needed: bool = True

    @property
    def blocking(self) -> bool:
        return self.needed and not self.good

    @property
    def mark(self) -> str:
        return "ok  " if self.good else ("FAIL" if self.needed else "note")


def checkup(config: AgentConfig) -> list[Finding]:
    found = [
        look("server", lambda: server(config)),
        look("spool", lambda: spool(config.state)),
        look("interpreter", lambda: interpreter(config), needed=config.driver != "emulated"),
    ]
    try:
        board = make_board(config)
    except LabError as error:
        return [*found, Finding("board", error.message, good=False)]
    return [
        *found,
        look("clock tables", lambda: f"{board.ranges().mode_count:,} power modes"),
        look("knobs now", lambda: str(board.current())),
        look("turning a knob", lambda: turn(board, config.state)),
        look("power", lambda: power(board), needed=False),
    ]


def look(what: str, find: Callable[[], str], *, needed: bool = True) -> Finding:
    try:
        return Finding(what, find(), good=True, needed=needed)
    except (LabError, OSError, subprocess.SubprocessError) as error:
        return Finding(what, str(error), good=False, needed=needed)


def server(config: AgentConfig) -> str:
    ServerClient(config.server, config.token, agent="doctor").ping()
    return f"{config.server} knows this board"


def spool(state: Path) -> str:
    probe = state / "spool" / "doctor.probe"
    waiting = len(Spool(state / "spool"))
    probe.write_text("written")
    probe.unlink()
    return f"{state / 'spool'} takes files; {waiting} runs wait in it"


def interpreter(config: AgentConfig) -> str:
    code = "import sys, torch; print(sys.version.split()[0], 'torch', torch.__version__)"
    done = subprocess.run([config.interpreter, "-c", code], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise LabError(f"{config.interpreter} cannot import torch: {last}")
    return f"{config.interpreter}: Python {done.stdout.strip()}"


def turn(board: Board, state: Path) -> str:
    """Apply the knobs in force, to see whether we may; a board that an agent serves is left alone."""
    try:
        with only_agent(state):
            board.apply(board.ranges().nearest(board.current()))
            board.restore()
    except Conflict as conflict:
        return f"not tried: {conflict.message}"
    return "allowed, and put back"


def power(board: Board) -> str:
    reading = board.read()
    if reading.total_mw is None:
        raise LabError(reading.unknown.get("total_mw", "not known") + "; runs will say so")
    return f"{reading.total_mw / 1000:.1f} W ({reading.total_rule})"
