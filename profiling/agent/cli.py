"""jetsonlab-agent: doctor, enroll, run, apply, restore."""

import argparse
import getpass
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from profiling.agent.checkup import checkup
from profiling.agent.client import ServerAway, ServerClient, ServerRefused
from profiling.agent.config import DRIVERS, AgentConfig, as_toml, load_config, parse_config
from profiling.agent.enrolment import description
from profiling.agent.loop import only_agent
from profiling.agent.making import agent_name, make_agent, make_board
from profiling.board.base import check_legal
from profiling.errors import LabError
from profiling.knobs import Knobs


def run(options: argparse.Namespace) -> int:
    config = load_config(options.config)
    with only_agent(config.state):
        agent = make_agent(config)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: agent.end())
        if options.once:
            agent.board.restore()
            print(f"{agent.serve_until_idle()} runs measured")
        else:
            agent.serve(config.poll_s)
    return 0


def enroll(options: argparse.Namespace) -> int:
    """Write the configuration, tell the server what this board is."""
    names = ("server", "token", "device", "driver", "device_model", "state", "interpreter", "broker")
    stated = {name: value for name in names if (value := getattr(options, name)) is not None}
    config = parse_config(stated)
    board = make_board(config)
    # Under the name it will run as: to the server a second name would be a second agent.
    client = ServerClient(config.server, config.token, agent=agent_name(config.state))
    client.enroll(description(board))
    path = options.config or Path("agent.toml")
    path.touch(mode=0o600)
    path.write_text(as_toml(config))
    print(f"{config.device} is enrolled; its configuration is {path}. Start it with: jetsonlab-agent run")
    return 0


def doctor(options: argparse.Namespace) -> int:
    """One line a check; 1 when a check fails that keeps the agent from working."""
    findings = checkup(load_config(options.config))
    for finding in findings:
        print(f"{finding.mark}  {finding.what}: {finding.found}")
    return 1 if any(finding.blocking for finding in findings) else 0


def apply(options: argparse.Namespace) -> int:
    config = load_config(options.config)
    board = make_board(config)
    knobs = Knobs(*(getattr(options, name) for name in Knobs._fields))
    check_legal(knobs, board.ranges())
    print(f"now      {board.current()}\nwanted   {knobs}")
    if options.dry_run:
        print("dry run: nothing was changed")
        return 0
    print(f"in force {board.apply(knobs)}\nPut it back with: jetsonlab-agent restore")
    tell_mode(config, knobs)
    return 0


def restore(options: argparse.Namespace) -> int:
    config = load_config(options.config)
    board = make_board(config)
    board.restore()
    print(f"restored to {board.current()}")
    tell_mode(config, None)
    return 0


def tell_mode(config: AgentConfig, knobs: Knobs | None) -> None:
    """For the server's audit log. The board is as was asked for, whether or not the server hears of it."""
    client = ServerClient(config.server, config.token, agent=agent_name(config.state))
    try:
        client.tell_mode(knobs and knobs._asdict(), by=os.environ.get("SUDO_USER") or getpass.getuser())
    except (ServerAway, ServerRefused) as error:
        print(f"The server was not told: {error.message}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser("jetsonlab-agent", description="Measures workloads on this board.")
    top.add_argument(
        "--config", type=Path, help="agent.toml (default: $JETSONLAB_AGENT_CONFIG, /etc/jetsonlab)"
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(function: Any, words: str) -> argparse.ArgumentParser:
        added = commands.add_parser(function.__name__, help=words)
        added.set_defaults(function=function)
        return added

    command(doctor, "check that everything an agent needs is there")
    running = command(run, "serve this board until stopped, polling over HTTPS")
    running.add_argument("--once", action="store_true", help="measure what is pending, then end")
    enrolling = command(enroll, "tell the server what this board is, and write agent.toml")
    enrolling.add_argument("--server", required=True, help="https://lab.example.org")
    enrolling.add_argument("--token", required=True, help="a device token, from the board's page")
    enrolling.add_argument("--device", required=True, help="the board's slug")
    enrolling.add_argument("--driver", choices=DRIVERS)
    enrolling.add_argument("--device-model", help="slug in the catalogue; not for a host")
    for name in ("state", "interpreter", "broker"):
        enrolling.add_argument(f"--{name}")
    applying = command(apply, "turn the knobs, read them back")
    for name in Knobs._fields:
        applying.add_argument(f"--{name.replace('_', '-')}", type=int, required=True)
    applying.add_argument("--dry-run", action="store_true", help="check and show, change nothing")
    command(restore, "put the board back as it was found")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    logging.basicConfig(level=logging.INFO, format="{asctime} {levelname} {message}", style="{")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    options = parser().parse_args(arguments)
    try:
        return options.function(options)
    except LabError as error:
        print(f"jetsonlab-agent: {error.message}", file=sys.stderr)
    except OSError as error:
        print(f"jetsonlab-agent: {error}; may this user write there?", file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
