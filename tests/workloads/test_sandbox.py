"""A workload runs as nobody, with the agent's secrets, files and network out of reach."""

import os
import socket
import subprocess

import pytest

from profiling.workloads.sandbox import Limits, clean_environment, hand_over, sandboxed
from tests.waiting import ended, wait_until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def output_of(open_python, code, limits=None, **options):
    command = sandboxed([open_python, "-c", code], limits or Limits())
    return subprocess.run(command, capture_output=True, text=True, cwd="/", **options)


@as_root
def test_it_runs_as_nobody_and_cannot_come_back(open_python):
    code = "import os\nprint(os.getuid())\ntry: os.setuid(0)\nexcept PermissionError: print('no')"
    assert output_of(open_python, code).stdout.split() == ["65534", "no"]


@as_root
def test_code_of_ours_may_stay_who_it_is(open_python):
    assert output_of(open_python, "import os; print(os.getuid())", Limits(user=None)).stdout == "0\n"


@as_root
def test_the_agents_own_files_stay_closed(open_python, tmp_path):
    secret = tmp_path / "token"
    secret.write_text("s3cret")
    secret.chmod(0o600)
    assert "PermissionError" in output_of(open_python, f"open({str(secret)!r})").stderr


@as_root
def test_there_is_no_network(open_python):
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)"
        assert "OSError" in output_of(open_python, code).stderr
        assert output_of(open_python, code, Limits(network=True)).returncode == 0


def test_no_more_privileges_and_no_core_dumps(open_python):
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))\n"
    code += "print([l for l in open('/proc/self/status') if 'NoNewPrivs' in l])"
    assert output_of(open_python, code).stdout.split() == ["(0,", "0)", "['NoNewPrivs:\\t1\\n']"]


def test_limits_above_the_agents_own_are_lowered(open_python):
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 0)"
    assert output_of(open_python, code, Limits(open_files=10**9)).stdout == "True\n"


def test_what_cannot_be_started_is_named():
    ran = subprocess.run(sandboxed(["/no/such/python"], Limits()), capture_output=True, text=True)
    assert ran.returncode == 1
    assert "cannot start /no/such/python" in ran.stderr


def test_it_dies_with_its_agent(open_python, tmp_path):
    inner = sandboxed(
        [open_python, "-c", "import os,time; print(os.getpid(), flush=True); time.sleep(60)"], Limits()
    )
    code = f"import subprocess, os\np = subprocess.Popen({inner!r}, stdout=subprocess.PIPE)\n"
    code += "print(p.stdout.readline().decode(), flush=True); os.kill(os.getpid(), 9)"
    ran = subprocess.run([open_python, "-c", code], capture_output=True, text=True, timeout=120)
    wait_until(lambda: ended(int(ran.stdout)))


def test_the_environment_holds_no_secret(tmp_path):
    given = {"PATH": "/usr/bin", "AGENT_TOKEN": "s3cret", "HOME": "/root", "PYTHONPATH": "/x", "LANG": "C"}
    kept = clean_environment(tmp_path, given)
    assert kept["HOME"] == kept["TMPDIR"] == str(tmp_path)
    assert "s3cret" not in kept.values()
    assert "PYTHONPATH" not in kept


def test_the_scratch_folder_is_the_workloads_alone(tmp_path):
    hand_over(tmp_path, "nobody")
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    assert tmp_path.stat().st_uid == (65534 if os.geteuid() == 0 else os.geteuid())
