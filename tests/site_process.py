"""A real site in processes of its own: gunicorn, a database file, an emulated board's agent."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from tests.servers import free_port, wait_for_port

ROOT = Path(__file__).parent.parent
SEED = """
import json
from django.contrib.auth.models import User
from profiling.catalog import device_model_entries
from profiling.models import Device, Workload
from profiling.services.catalog import device_model_seed
from profiling.services.tokens import token_create
user = User.objects.create_superuser("ada", "", "ada-long-password")
entry = next(e for e in device_model_entries() if e["slug"] == SLUG)
device = Device.objects.create(
    slug="nano-1", name="Nano 1", device_model=device_model_seed(entry=entry), driver="emulated")
Workload.objects.create(slug="resnet", name="ResNet", kind="training", network="ResNet-18", minibatch=16)
scopes = ["read", "upload", "plan"]
print(json.dumps({
    "person": token_create(user=user, name="test", scopes=scopes)[1],
    "board": token_create(user=user, name="nano", scopes=["device"], device=device)[1]}))
"""

ENROL = """
from django.contrib.auth.models import User
from profiling.models import Device
from profiling.services.devices import device_token_create, enrol_command
device = Device.objects.get(slug="this-machine")
_, text = device_token_create(device=device, user=User.objects.get())
print(enrol_command(device=device, server={server!r}, token=text))
"""


class Site:
    """One site in `folder`. Nothing here but real programs."""

    def __init__(self, folder: Path, broker: str = "", device_model: str = "orin-nano-8gb") -> None:
        self.folder, self.port = folder, free_port()
        hidden = ("DATABASE_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE")
        self.env = {name: value for name, value in os.environ.items() if name not in hidden}
        self.env |= {"JETSONLAB_DATA": str(folder), "OMP_NUM_THREADS": "1", "LOG_LEVEL": "WARNING"}
        self.env |= {"BROKER_URL": broker} if broker else {}
        self.broker, self.device_model = broker, device_model
        self.processes: list[subprocess.Popen[bytes]] = []
        self.web: subprocess.Popen[bytes] | None = None
        self.manage("migrate", "-v0")
        self.tokens = json.loads(
            self.manage("shell", "-v0", "-c", f"SLUG = {device_model!r}\n{SEED}").splitlines()[-1]
        )

    def manage(self, *words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_web(self) -> None:
        bind = ["--bind", f"127.0.0.1:{self.port}", "--threads", "4", "--log-level", "error"]
        self.web = self.spawn([sys.executable, "-m", "gunicorn", "jetsonlab.wsgi", *bind])
        wait_for_port(self.port, self.web)

    def start_worker(self) -> subprocess.Popen[bytes]:
        quiet = ["--without-gossip", "--without-mingle"]  # as the Procfile has it
        worker = ["-m", "celery", "-q", "-A", "jetsonlab", "worker", "--concurrency", "1", *quiet]
        return self.spawn([sys.executable, *worker])

    def start_agent(
        self, state: str = "agent", speed: float = 0, celery: bool = False, **more: Any
    ) -> subprocess.Popen[bytes]:
        settings = {
            "server": self.url,
            "token": self.tokens["board"],
            "device": "nano-1",
            "driver": "emulated",
            "device_model": self.device_model,
            "state": str(self.folder / state),
            "poll_s": 60.0 if celery else 0.5,
            "broker": self.broker,
        }
        settings |= more | ({"speed": speed} if speed else {})
        config = self.folder / f"{state}.toml"
        config.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
        face = (
            ["-m", "celery", "-A", "profiling.agent.celery", "worker"]
            if celery
            else ["-m", "profiling.agent.cli", "run"]
        )
        return self.spawn([sys.executable, *face], JETSONLAB_AGENT_CONFIG=str(config))

    def agent(self, *words: str) -> str:
        """A command of jetsonlab-agent in the site's folder, and what it printed."""
        command = [sys.executable, str(ROOT / "jetsonlab-agent"), *words]
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def enrol_host(self, interpreter: str = sys.executable) -> None:
        """Register this very machine as a person would, and type the command its page shows."""
        self.api("POST", "devices/", name="This machine", driver="host")
        script = ENROL.format(server=self.url)
        command = self.manage("shell", "-v0", "-c", script).splitlines()[-1]
        own = ["--state", str(self.folder / "host"), "--interpreter", interpreter]
        self.agent(*shlex.split(command)[1:], *own)

    def spawn(self, command: list[str], **env: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"log-{len(self.processes)}").open("wb")
        process = subprocess.Popen(
            command, cwd=ROOT, env={**self.env, **env}, stdout=log, stderr=log, start_new_session=True
        )
        self.processes.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def logs(self) -> str:
        return "\n".join(
            path.read_text(errors="replace")[-3000:] for path in sorted(self.folder.glob("log-*"))
        )

    def api(self, method: str, path: str, /, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens['person']}"}
        answer = httpx.request(
            method, f"{self.url}/api/v1/{path}", headers=headers, json=body or None, timeout=60
        )
        assert answer.is_success, answer.text
        return answer.json()

    def request_sweep(self, count: int) -> int:
        asked = {"device": "nano-1", "workload": "resnet", "strategy": "random", "count": count}
        return self.api("POST", "sweeps/", **asked)["id"]

    def sweep(self, pk: int) -> dict[str, Any]:
        return self.api("GET", f"sweeps/{pk}/")

    def close(self) -> None:
        """And say what the programs said, which pytest shows when a test failed."""
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)
        print(self.logs())
