"""What an agent must know: whom to serve, with which board, and where to keep what is not delivered."""

import os
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from profiling.errors import InvalidInput

DRIVERS = ("sysfs", "jtop", "remote", "host", "emulated")
PATHS = ("state", "boardd_socket", "broker_folder")
DEFAULT_PLACES = (Path("/etc/jetsonlab/agent.toml"), Path("agent.toml"))


@dataclass(frozen=True)
class AgentConfig:
    """server: the site's address. token: of scope device. device: the board's slug, also its queue's name.

    driver: how the board is driven. device_model: its slug in the catalogue ("" for a host).
    state: folder of the lock, the spool and what restores the board. interpreter: the Python that has the
    board's torch. broker: the Celery broker, "" to poll over HTTPS only; broker_folder: where filesystem://
    keeps its messages. poll_s: how often to look for
    work. workload_memory_mib, workload_silence_s: what a workload may use, and how long it may go without a
    minibatch. seed, speed: of an emulated board.
    """

    server: str
    token: str = field(repr=False)
    device: str
    driver: str = "sysfs"
    device_model: str = ""
    state: Path = Path("/var/lib/jetsonlab")
    interpreter: str = "python3"
    broker: str = ""
    broker_folder: Path = Path("broker")
    poll_s: float = 15.0
    boardd_socket: Path = Path("/run/jetsonlab/boardd.sock")
    workload_memory_mib: int = 8192
    workload_silence_s: float = 300.0
    seed: int = 0
    speed: float | None = None

    @property
    def broker_options(self) -> dict[str, str]:
        """The folders of a broker on disk; servers need none."""
        if not self.broker.startswith("filesystem:"):
            return {}
        folder = self.broker_folder
        messages = str(folder / "messages")
        return {
            "data_folder_in": messages,
            "data_folder_out": messages,
            "control_folder": str(folder / "control"),
        }


def load_config(path: Path | None = None) -> AgentConfig:
    """From `path`, $JETSONLAB_AGENT_CONFIG, or the usual places; InvalidInput names what is missing."""
    named = path or (Path(env) if (env := os.environ.get("JETSONLAB_AGENT_CONFIG")) else None)
    found = named or next((place for place in DEFAULT_PLACES if place.exists()), None)
    if found is None:
        raise InvalidInput("No agent.toml found. Make one with: jetsonlab-agent enroll --help")
    try:
        return parse_config(tomllib.loads(found.read_text()))
    except OSError as error:
        raise InvalidInput(f"Cannot read {found}: {error.strerror}.") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{found} is not valid TOML: {error}.") from error


def parse_config(values: dict[str, Any]) -> AgentConfig:
    known = {each.name for each in fields(AgentConfig)}
    if unknown := values.keys() - known:
        raise InvalidInput(f"Unknown settings {sorted(unknown)}; known: {', '.join(sorted(known))}.")
    if missing := {"server", "token", "device"} - values.keys():
        raise InvalidInput(f"Missing settings: {', '.join(sorted(missing))}.")
    if values.get("driver", "sysfs") not in DRIVERS:
        raise InvalidInput(f"driver must be one of {', '.join(DRIVERS)}, not {values['driver']!r}.")
    paths: dict[str, Any] = {name: Path(values[name]) for name in PATHS if name in values}
    return AgentConfig(**(values | paths))


def as_toml(config: AgentConfig) -> str:
    """The file `load_config` reads back; unset optional values are left out."""
    lines = []
    for each in fields(config):
        value = getattr(config, each.name)
        if value is None or value == each.default:
            continue
        shown = str(value) if isinstance(value, (int, float)) else f'"{value}"'
        lines.append(f"{each.name} = {shown}")
    return "\n".join(lines) + "\n"
