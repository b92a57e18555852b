"""What may go wrong between a board, its server and the broker, with real processes and a real Redis."""

import subprocess

import pytest

from tests.servers import redis_server
from tests.site_process import Site
from tests.waiting import wait_until


def finished(site, pk):
    return lambda: site.sweep(pk)["state"] == "done"


def test_an_agent_killed_in_mid_run_loses_and_doubles_nothing(site):
    pk = site.request_sweep(4)
    agent = site.start_agent(speed=15)
    wait_until(lambda: site.sweep(pk)["runs_complete"] >= 1)
    site.kill(agent)
    assert site.sweep(pk)["runs_complete"] < 4
    site.start_agent()
    wait_until(finished(site, pk))
    runs = site.api("GET", f"runs/?sweep={pk}")["results"]
    assert (
        len(runs)
        == len({tuple(run[name] for name in ("cores", "cpu_khz", "gpu_khz", "mem_khz")) for run in runs})
        == 4
    )
    assert all(run["time_ms"] for run in runs)


def test_results_of_a_servers_absence_arrive_afterwards(site):
    pk = site.request_sweep(3)
    site.start_agent(speed=8)
    wait_until(lambda: site.sweep(pk)["state"] == "running")
    site.kill(site.web)
    spool = site.folder / "agent" / "spool"
    wait_until(lambda: list(spool.glob("*.json")))
    site.start_web()
    wait_until(finished(site, pk))
    assert site.sweep(pk)["runs_complete"] == 3
    wait_until(lambda: not list(spool.glob("*.json")))


@pytest.fixture
def full_spool(tmp_path):
    """A real disk too small for one run, where the agent keeps what it has not delivered."""
    folder = tmp_path / "agent" / "spool"
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_in_the_spool_loses_no_run(full_spool, site):
    pk = site.request_sweep(2)
    agent = site.start_agent(speed=8)
    wait_until(lambda: site.sweep(pk)["state"] == "running")
    site.kill(site.web)
    wait_until(lambda: "kept in memory only" in site.logs())
    site.start_web()
    wait_until(finished(site, pk))
    assert site.sweep(pk)["runs_complete"] == 2
    assert agent.poll() is None


def test_a_second_agent_for_a_board_is_refused(site):
    pk = site.request_sweep(3)
    site.start_agent(speed=15)
    wait_until(lambda: site.sweep(pk)["state"] == "running")
    here, elsewhere = site.start_agent(), site.start_agent(state="elsewhere")
    assert here.wait(120) == elsewhere.wait(120) == 2
    assert "Another agent holds" in site.logs()
    assert "Another agent is serving" in site.logs()
    wait_until(finished(site, pk))
    assert site.sweep(pk)["runs_complete"] == 3


def test_messages_may_be_doubled_and_redis_flushed_and_restarted(tmp_path):
    with redis_server(tmp_path) as url:
        site = Site(tmp_path, broker=url)
        site.start_web()
        site.start_agent(celery=True)
        first, second = site.request_sweep(2), site.request_sweep(2)
        wait_until(finished(site, first))
        wait_until(finished(site, second))
        port = int(url.rsplit(":", 1)[1].split("/")[0])
    with redis_server(tmp_path, port=port):
        third = site.request_sweep(2)
        wait_until(finished(site, third))
    site.close()


def test_a_killed_celery_agent_is_followed_by_one_that_goes_on(tmp_path):
    with redis_server(tmp_path) as url:
        site = Site(tmp_path, broker=url)
        site.start_web()
        pk = site.request_sweep(3)
        agent = site.start_agent(celery=True, speed=15)
        wait_until(lambda: site.sweep(pk)["state"] == "running")
        site.kill(agent)
        site.start_agent(celery=True)
        wait_until(finished(site, pk))
        assert site.sweep(pk)["runs_complete"] == 3
        site.close()
