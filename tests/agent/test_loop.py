"""The agent's loop against the real server code, on emulated boards; only the wire between them is short."""

import httpx
import pytest

from jetsonlab.wsgi import application
from profiling.agent.client import ServerAway, ServerClient, ServerRefused
from profiling.agent.loop import Agent, Heartbeat, only_agent
from profiling.agent.making import emulated_workload
from profiling.agent.rules import Progress
from profiling.agent.spool import Spool
from profiling.board.emulated import EmulatedBoard
from profiling.catalog import device_model_entries
from profiling.errors import Conflict
from profiling.knobs import Knobs
from profiling.models import ApiToken, Device, DeviceModel, Run, Sweep
from profiling.services.catalog import device_model_seed
from profiling.services.sweeps import sweep_cancel, sweep_request
from profiling.workloads.base import WorkloadFailed
from tests.tokens import token_of

NANO = next(entry for entry in device_model_entries() if entry["slug"] == "orin-nano-8gb")
FAST = Knobs(6, 1_510_400, 624_750, 2_133_000)
SLOW = Knobs(2, 806_400, 306_000, 665_600)

pytestmark = pytest.mark.django_db(transaction=True)


class Line(httpx.WSGITransport):
    """The wire: `cut` makes the server unreachable."""

    cut = False

    def handle_request(self, request):
        if self.cut:
            raise httpx.ConnectError("cut", request=request)
        return super().handle_request(request)


@pytest.fixture
def nano(transactional_db):
    device_model = device_model_seed(entry=NANO)
    return Device.objects.create(slug="nano-1", name="Nano 1", device_model=device_model, driver="emulated")


@pytest.fixture
def line():
    return Line(app=application)


@pytest.fixture
def agent(nano, eng, line, tmp_path):
    token = token_of(eng, "device", device=nano)
    client = ServerClient("http://127.0.0.1", token, agent="a1", transport=line)
    return Agent(client, EmulatedBoard(NANO), Spool(tmp_path), emulated_workload)


@pytest.fixture
def sweep(nano, resnet):
    return sweep_request(device=nano, workload=resnet, strategy="list", modes=[SLOW, FAST])


def test_a_sweep_is_measured_and_delivered_with_telemetry(agent, sweep):
    found = agent.board.current()
    assert agent.serve_until_idle() == 2
    fast, slow = Run.objects.order_by("order")
    assert 0 < fast.time_ms < slow.time_ms
    assert fast.power_mw > slow.power_mw > 0
    assert fast.energy_mj == pytest.approx(fast.time_ms * fast.power_mw / 1000, rel=0.1)
    assert fast.emulated
    assert fast.telemetry.get().rows > 5
    assert (fast.provenance["governor"], fast.provenance["l4t"]) == ("schedutil", "35.4.1")
    assert Sweep.objects.get().state == Sweep.State.DONE
    assert agent.board.current() == found


def test_results_wait_in_the_spool_while_the_server_is_away(agent, sweep, line):
    run = agent.client.claim()
    line.cut = True
    agent.serve_run(run)
    with pytest.raises(ServerAway):
        agent.deliver_waiting()
    assert len(agent.spool) == 1
    line.cut = False
    agent.deliver_waiting()
    assert len(agent.spool) == 0
    assert Run.objects.get(pk=run["id"]).state == Run.State.COMPLETE


def test_an_agent_started_anew_delivers_what_the_last_one_left(agent, sweep, line, tmp_path):
    agent.serve_run(agent.client.claim())
    successor = Agent(agent.client, EmulatedBoard(NANO), Spool(tmp_path), emulated_workload)
    assert successor.serve_until_idle() == 1
    assert set(Run.objects.values_list("state", flat=True)) == {Run.State.COMPLETE}


def test_a_cancelled_run_ends_at_the_next_heartbeat(agent, sweep, monkeypatch):
    monkeypatch.setattr("profiling.agent.loop.HEARTBEAT_S", 0)
    run = agent.client.claim()
    sweep_cancel(sweep=sweep)
    agent.serve_run(run)
    assert len(agent.spool) == 0
    assert Run.objects.get(pk=run["id"]).state == Run.State.CANCELLED


def test_a_stopped_agent_gives_its_run_back(agent, sweep):
    run = agent.client.claim()
    agent.end()
    agent.serve_run(run)
    assert Run.objects.get(pk=run["id"]).state == Run.State.PENDING


def test_a_failing_workload_reaches_the_server_with_its_last_words(agent, sweep):
    def crash(board, settings):
        raise WorkloadFailed("the workload was ended by SIGKILL", ("CUDA out of memory",))

    agent.make_workload = crash
    agent.serve_run(agent.client.claim())
    assert "CUDA out of memory" in Run.objects.get(order=1).failure


def test_unprintable_last_words_do_not_stop_the_agent(agent, sweep):
    def crash(board, settings):
        raise WorkloadFailed("the workload \0 ended", ("\x1b[31m\x00", "worn out"))

    agent.make_workload = crash
    agent.serve_until_idle()
    assert {run.state for run in Run.objects.all()} == {Run.State.FAILED}
    assert Run.objects.get(order=1).failure.endswith("worn out")


def test_a_failure_the_server_does_not_take_does_not_stop_the_agent(agent, sweep, caplog):
    run = agent.client.claim()
    Run.objects.update(
        device=Device.objects.create(slug="b", name="B", device_model=DeviceModel.objects.get())
    )
    agent._give_back(run, "why", again=True)
    assert "did not take that" in caplog.text


class Blind(EmulatedBoard):
    """Nobody fills the files of its current sensors."""

    def _sensor_files(self):
        return (file for file in super()._sensor_files() if "curr" not in file[0])


@pytest.mark.parametrize("why", ["No such file", "is empty"])
def test_a_run_without_power_sensors_says_why(agent, sweep, why):
    agent.board = Blind(NANO)
    for sensor in agent.board.tree.root.glob("sys/**/curr*_input"):
        sensor.unlink(missing_ok=True) if why == "No such file" else sensor.write_text("")
    assert agent.serve_until_idle() == 2
    for run in Run.objects.all():
        assert run.time_ms > 0
        assert (run.power_mw, run.energy_mj) == (None, None)
        assert why in run.unknowns["power_mw"]


def test_a_clock_the_board_refuses_fails_its_own_run_only(agent, sweep):
    agent.board = EmulatedBoard(NANO, caps_khz={"gpu": 306_000})
    agent.serve_until_idle()
    fast, slow = Run.objects.order_by("order")
    assert (fast.state, fast.attempts, slow.state) == (Run.State.FAILED, 3, Run.State.COMPLETE)
    assert "asked for 624750" in fast.failure
    assert "306000" in fast.failure
    assert Sweep.objects.get().state == Sweep.State.DONE


def test_an_unknown_network_is_not_tried_again(agent, sweep, resnet):
    resnet.network = "perpetuum-mobile"
    resnet.save()
    agent.serve_run(agent.client.claim())
    run = Run.objects.get(order=1)
    assert run.state == Run.State.FAILED
    assert "perpetuum-mobile" in run.failure


def test_the_server_sees_how_a_run_goes(agent, sweep, nano):
    run = agent.client.claim()
    beat = Heartbeat(agent, run["id"])
    beat(Progress("measuring", 7, 3, agent.board.read()))
    nano.refresh_from_db()
    assert (nano.status["phase"], nano.status["minibatches"]) == ("measuring", 7)
    assert nano.status["reading"]["total_mw"] > 0


def test_heartbeats_keep_their_distance(agent, sweep, nano, monkeypatch):
    monkeypatch.setattr("profiling.agent.loop.HEARTBEAT_S", 3600)
    beat = Heartbeat(agent, agent.client.claim()["id"])
    beat(Progress("measuring", 7, 3, None))
    beat(Progress("measuring", 8, 3, None))
    nano.refresh_from_db()
    assert nano.status["minibatches"] == 7
    beat._due_s = 0
    beat(Progress("measuring", 9, 3, None))
    nano.refresh_from_db()
    assert nano.status["minibatches"] == 9


def test_a_server_that_is_away_stops_no_measurement(agent, sweep, line, caplog):
    beat = Heartbeat(agent, agent.client.claim()["id"])
    line.cut = True
    beat(Progress("measuring", 7, 3, None))
    assert "measuring on" in caplog.text


def test_what_the_server_refuses_for_good_does_not_block_the_rest(agent, sweep):
    agent.spool.put(999_999, {"measured": {"time_ms": 1.0, "power_mw": 1.0}})
    agent.serve_run(agent.client.claim())
    agent.deliver_waiting()
    assert len(agent.spool) == 0
    assert Run.objects.filter(state=Run.State.COMPLETE).count() == 1


def test_a_revoked_token_keeps_everything(agent, sweep):
    agent.serve_run(agent.client.claim())
    ApiToken.objects.all().delete()
    with pytest.raises(ServerRefused):
        agent.deliver_waiting()
    assert len(agent.spool) == 1


def test_one_machine_runs_one_agent_a_board(tmp_path):
    with only_agent(tmp_path), pytest.raises(Conflict, match="one agent at a time"), only_agent(tmp_path):
        pass
    with only_agent(tmp_path):
        pass
