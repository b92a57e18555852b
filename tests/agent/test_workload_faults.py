"""Users' own code that misbehaves: a real agent runs it in the sandbox, the server learns why it failed."""

import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from tests.packages import LINEAR, nobodys_python, zipped
from tests.site_process import Site
from tests.waiting import wait_until

RULES = {"minibatches": 5, "window_s": 0.2, "sample_period_s": 0.2, "settle_s": 0.2, "settle_limit_s": 1.0}
LIMITS = "poll_s = 0.3\nworkload_silence_s = 12.0\nworkload_memory_mib = 1100\n"
GARBAGE = (
    r"""os.write(1, b'\xff\x00 {"event": "minibatch", "time_ms": -1}\n' * 99); raise OSError('worn out')"""
)
DEEDS = {
    "hangs": ("time.sleep(1000)", ["no minibatch for 12 s"]),
    "crashes": ("os.abort()", ["SIGABRT"]),
    "raises": (
        "raise ValueError('no such layer: \u00fc')",
        ["ValueError", "no such layer: \u00fc", "Traceback"],
    ),
    "eats-memory": ("hoard = bytearray(1 << 33)", ["MemoryError"]),
    "prints-garbage": (GARBAGE, ["worn out", '"time_ms": -1']),
}


def after_one_minibatch(deed: str) -> bytes:
    first = f"import os, time\n    yield torch.randn(minibatch, 8), torch.zeros(minibatch).long()\n    {deed}"
    return zipped(LINEAR.replace("    for _ in", f"    {first}\n    for _ in"))


@pytest.fixture(scope="module")
def site():
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)  # nobody must reach the unpacked package
        python = nobodys_python(Path(name))
        site = Site(Path(name))
        site.start_web()
        site.enrol_host(python)
        config = Path(name) / "agent.toml"
        config.write_text(config.read_text() + LIMITS)
        agent = [sys.executable, "-m", "profiling.agent.cli", "run"]
        site.spawn(agent, JETSONLAB_AGENT_CONFIG=str(config))
        yield site
        site.close()


def sweep_of(site: Site, name: str, package: bytes) -> int:
    fields = {"kind": "training", "network": "mine", "minibatch": 4}
    slug = site.api("POST", "workloads/", name=name, **fields)["slug"]
    headers = {"Authorization": f"Bearer {site.tokens['person']}"}
    url = f"{site.url}/api/v1/workloads/{slug}/package/"
    assert httpx.put(f"{url}?filename=mine.zip", content=package, headers=headers).status_code == 201
    clock = site.api("GET", "device-models/host-this-machine/")["cpu_khz"][-1]
    mode = {"cores": 1, "cpu_khz": clock, "gpu_khz": 0, "mem_khz": 0}
    asked = {"device": "this-machine", "workload": slug, "strategy": "list", "modes": [mode], "rules": RULES}
    return site.api("POST", "sweeps/", **asked)["id"]


def run_of(site: Site, sweep: int) -> dict:
    return site.api("GET", f"runs/?sweep={sweep}")["results"][0]


@pytest.mark.parametrize("name", DEEDS)
def test_the_server_learns_why_it_failed(site, name):
    deed, words = DEEDS[name]
    sweep = sweep_of(site, name, after_one_minibatch(deed))
    failure = wait_until(lambda: run_of(site, sweep)["failure"])
    assert [word for word in words if word not in failure] == [], failure
    site.api("POST", f"sweeps/{sweep}/cancel/")


def test_a_good_one_is_measured_afterwards(site):
    sweep = sweep_of(site, "behaves", zipped())
    wait_until(lambda: run_of(site, sweep)["state"] == "complete")
    run = run_of(site, sweep)
    assert run["time_ms"] > 0
    assert run["provenance"]["workload"]["file"] == "workload.py"
