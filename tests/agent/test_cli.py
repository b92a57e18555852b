import httpx
import pytest

from profiling.agent import cli
from profiling.agent.client import ServerClient
from profiling.agent.config import as_toml, parse_config

KNOBS = {"cores": 4, "cpu_khz": 422_400, "gpu_khz": 114_750, "mem_khz": 665_600}
FLAGS = [word for name, value in KNOBS.items() for word in (f"--{name.replace('_', '-')}", str(value))]


@pytest.fixture
def told(monkeypatch):
    """What the server hears; a status to answer with can be put in front."""
    heard: list = []

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append((request.url.path, request.read().decode()))
        return httpx.Response(200, json={"go_on": True})

    monkeypatch.setattr(cli, "ServerClient", lambda *args, **more: client(answer, *args, **more))
    return heard


def client(answer, *args, **more) -> ServerClient:
    return ServerClient(*args, **more, transport=httpx.MockTransport(answer))


@pytest.fixture
def config(tmp_path) -> str:
    stated = {"server": "https://lab.example.org", "token": "jl_x", "device": "desk-1", "driver": "emulated"}
    file = tmp_path / "agent.toml"
    file.write_text(as_toml(parse_config({**stated, "device_model": "agx-orin", "state": str(tmp_path)})))
    return str(file)


def test_the_server_hears_who_applied_what(told, config, monkeypatch, capsys):
    monkeypatch.setenv("SUDO_USER", "nora")
    assert cli.main(["--config", config, "apply", *FLAGS]) == 0
    ((path, body),) = told
    assert path == "/api/v1/agent/mode/"
    assert '"cpu_khz":422400' in body
    assert '"by":"nora"' in body
    assert cli.main(["--config", config, "restore"]) == 0
    assert '"knobs":null' in told[-1][1]


def test_looking_only_tells_nobody(told, config):
    assert cli.main(["--config", config, "apply", *FLAGS, "--dry-run"]) == 0
    assert told == []


def test_a_server_that_is_away_does_not_stand_in_the_way(config, monkeypatch, capsys):
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route")

    monkeypatch.setattr(cli, "ServerClient", lambda *args, **more: client(away, *args, **more))
    assert cli.main(["--config", config, "apply", *FLAGS]) == 0
    said = capsys.readouterr()
    assert "in force" in said.out
    assert "The server was not told" in said.err
