"""From configuration to things that run: the board, the workload, the agent."""

import socket
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from profiling.agent.client import ServerClient
from profiling.agent.config import AgentConfig
from profiling.agent.loop import Agent, WorkloadMaker
from profiling.agent.packages import PackageCache
from profiling.agent.spool import Spool
from profiling.board.base import Board
from profiling.board.emulated import EmulatedBoard
from profiling.board.emulation.demand import EmulatedWorkload
from profiling.board.host import HostBoard
from profiling.board.sysfs import BoardRules, SysfsBoard
from profiling.catalog import device_model_entries
from profiling.errors import InvalidInput
from profiling.workloads.arguments import runner_arguments
from profiling.workloads.base import WorkloadProcess
from profiling.workloads.emulated import EmulatedProcess
from profiling.workloads.process import Patience, RunnerProcess
from profiling.workloads.sandbox import Limits


def make_agent(config: AgentConfig) -> Agent:
    board = make_board(config)
    client = ServerClient(config.server, config.token, agent=agent_name(config.state))
    make = emulated_workload if config.driver == "emulated" else real_workload(config, client)
    return Agent(client, board, Spool(config.state / "spool"), make)


def agent_name(state: Path) -> str:
    """The same after a crash, so that the server knows a restarted agent from a second one."""
    file = state / "agent-name"
    if not file.exists():
        state.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{socket.gethostname()[:40]}-{uuid.uuid4().hex[:12]}")
    return file.read_text()


def catalogue_entry(slug: str) -> dict[str, Any]:
    entries = {entry["slug"]: entry for entry in device_model_entries()}
    if slug not in entries:
        raise InvalidInput(f"device_model {slug!r} is not in the catalogue: {', '.join(entries)}.")
    return entries[slug]


def make_board(config: AgentConfig) -> Board:
    makers: dict[str, Callable[[AgentConfig], Board]] = {
        "sysfs": _sysfs,
        "jtop": _jtop,
        "remote": _remote,
        "host": lambda config: HostBoard(state_file=config.state / "board-state.jsonl"),
        "emulated": _emulated,
    }
    return makers[config.driver](config)


def _rules(config: AgentConfig) -> BoardRules:
    """A board that is not in the catalogue works too: its rails are kept, their sum is not known."""
    if not config.device_model:
        return BoardRules()
    return BoardRules.from_entry(catalogue_entry(config.device_model))


def _sysfs(config: AgentConfig) -> Board:
    return SysfsBoard(rules=_rules(config), state_file=config.state / "board-state.jsonl")


def _jtop(config: AgentConfig) -> Board:
    from profiling.board.jtop import JtopBoard  # needs jetson-stats, which only this driver does

    return JtopBoard(rules=_rules(config), state_file=config.state / "board-state.jsonl")


def _remote(config: AgentConfig) -> Board:
    from profiling.board.remote import RemoteBoard

    return RemoteBoard(config.boardd_socket)


def _emulated(config: AgentConfig) -> Board:
    entry = catalogue_entry(config.device_model)
    return EmulatedBoard(entry, seed=config.seed, root=config.state / "emulated", speed=config.speed)


def emulated_workload(board: Board, settings: dict[str, Any]) -> WorkloadProcess:
    assert isinstance(board, EmulatedBoard)
    if settings.get("package"):
        raise InvalidInput("An emulated board cannot run a package: it emulates known networks only.")
    workers = settings["loader_workers"]
    demand = EmulatedWorkload(
        settings["network"], settings["kind"], settings["minibatch"], 4 if workers is None else workers
    )
    return EmulatedProcess(board, demand)


def real_workload(config: AgentConfig, client: ServerClient) -> WorkloadMaker:
    """A network of the zoo is our own code: limited, but it need not become nobody."""
    cache = PackageCache(config.state / "packages", client.package)
    limits = Limits(memory_bytes=config.workload_memory_mib << 20)
    patience = Patience(minibatch_s=config.workload_silence_s)

    def make(board: Board, settings: dict[str, Any]) -> WorkloadProcess:
        package = settings.get("package")
        file = cache.place(package) if package else None
        arguments = runner_arguments(settings, settings["minibatch"], file)
        bounds = limits if file else replace(limits, user=None)
        return RunnerProcess(arguments, config.interpreter, bounds, patience)

    return make
