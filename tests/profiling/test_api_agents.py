import pytest
from rest_framework.test import APIClient

from profiling.knobs import Knobs
from profiling.models import Device, Run
from profiling.services.sweeps import sweep_cancel, sweep_request
from tests.tokens import program_with, token_of

FAST = Knobs(6, 2_201_600, 1_300_500, 3_199_000)
RESULT = {
    "measured": {
        "time_ms": 59.0,
        "power_mw": None,
        "unknowns": {"power_mw": "no sensor"},
        "flags": ["short"],
    },
    "telemetry": {"time_s": [0.0, 1.0], "temp_cpu_c": [41.5, None]},
}


@pytest.fixture
def agent(board, eng) -> APIClient:
    return program_with(token_of(eng, "device", device=board))


@pytest.fixture
def sweep(board, resnet):
    return sweep_request(device=board, workload=resnet, strategy="list", modes=[FAST])


@pytest.fixture
def claimed(agent, sweep) -> dict:
    return agent.post("/api/v1/agent/claim/", {"agent": "a1"}).json()


def test_an_agent_claims_what_to_measure_and_how(claimed):
    assert [claimed[name] for name in Knobs._fields] == list(FAST)
    assert claimed["workload"]["network"] == "ResNet-18"
    assert claimed["minibatch"] == 16


def test_with_nothing_to_do_the_answer_is_empty(agent, board):
    assert agent.post("/api/v1/agent/claim/", {"agent": "a1"}).status_code == 204


def test_a_result_comes_with_its_reasons_and_telemetry(agent, claimed):
    url = f"/api/v1/agent/runs/{claimed['id']}/result/"
    assert agent.post(url, RESULT).status_code == 200
    assert agent.post(url, RESULT).status_code == 200
    run = Run.objects.get(pk=claimed["id"])
    assert (run.time_ms, run.power_mw, run.unknowns, run.flags) == (
        59.0,
        None,
        {"power_mw": "no sensor"},
        ["short"],
    )
    assert run.telemetry.get().rows == 2


def test_a_heartbeat_brings_back_the_cancellation(agent, claimed, sweep):
    url = f"/api/v1/agent/runs/{claimed['id']}/heartbeat/"
    beat = {"agent": "a1", "status": {"minibatch": 7, "of": 40}}
    assert agent.post(url, beat).json() == {"go_on": True}
    assert Device.objects.get().status == {"minibatch": 7, "of": 40}
    sweep_cancel(sweep=sweep)
    assert agent.post(url, beat).json() == {"go_on": False}


def test_a_failure_gives_the_run_back(agent, claimed):
    agent.post(f"/api/v1/agent/runs/{claimed['id']}/failure/", {"reason": "out of memory"})
    assert Run.objects.get().state == Run.State.PENDING


def test_a_second_agent_gets_a_conflict(agent, claimed):
    answer = agent.post("/api/v1/agent/claim/", {"agent": "a2"})
    assert answer.status_code == 409
    assert "one agent at a time" in answer.json()["detail"]


def test_enrolling_keeps_the_boards_own_clocks(agent, board):
    ranges = {
        "cores": [2, 4, 6],
        "cpu_khz": [268_800, 1_000_000],
        "gpu_khz": [306_000],
        "mem_khz": [3_199_000],
    }
    description = {"ranges": ranges, "software": {"l4t": "36.4"}, "nvpmodel_conf": "< PM_CONFIG DEFAULT=0 >"}
    agent.post("/api/v1/agent/enroll/", {"agent": "a1", "description": description})
    board.refresh_from_db()
    assert board.ranges.maximum == Knobs(6, 1_000_000, 306_000, 3_199_000)
    assert board.software == {"l4t": "36.4"}


SENSELESS = [
    {"cores": [1]},
    dict.fromkeys(Knobs._fields, [2, 1]),
    "fast",
    {},
    dict.fromkeys(Knobs._fields, [2**31]),
    dict.fromkeys(Knobs._fields, [*range(1, 28)]),  # more modes than any board has
]


@pytest.mark.parametrize("ranges", SENSELESS, ids=range(len(SENSELESS)))
def test_senseless_ranges_are_refused(agent, ranges):
    answer = agent.post("/api/v1/agent/enroll/", {"agent": "a1", "description": {"ranges": ranges}})
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("ranges ")


def test_another_boards_runs_are_not_there(agent, sweep, orin):
    other = Device.objects.create(slug="desk-2", name="Desk 2", device_model=orin)
    run = Run.objects.get()
    Run.objects.update(device=other)
    assert agent.post(f"/api/v1/agent/runs/{run.pk}/result/", RESULT).status_code == 404


def test_a_persons_token_cannot_play_agent(api, sweep):
    assert api.post("/api/v1/agent/claim/", {"agent": "a1"}).status_code == 403


def test_a_device_token_cannot_read_the_lab(agent, sweep):
    assert agent.get("/api/v1/sweeps/").status_code == 403


@pytest.mark.parametrize("told", [{"software": 5}, {"software": None}, {"nvpmodel_conf": None}])
def test_a_description_of_the_wrong_kind_is_refused(agent, told):
    answer = agent.post("/api/v1/agent/enroll/", {"agent": "a1", "description": told})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


@pytest.mark.parametrize("cells", [["a"], [{}], [[1]], [10**400], [None]])
def test_telemetry_whose_times_are_no_numbers_is_refused_and_the_run_waits(agent, claimed, cells):
    told = {"measured": RESULT["measured"], "telemetry": {"time_s": cells}}
    answer = agent.post(f"/api/v1/agent/runs/{claimed['id']}/result/", told)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert Run.objects.get(pk=claimed["id"]).state == Run.State.CLAIMED


def test_a_boards_token_allows_no_more_than_its_owner_may(agent, eng):
    eng.groups.clear()
    answer = agent.post("/api/v1/agent/ping/")
    assert answer.status_code == 403
    assert "whose owner is an engineer" in answer.json()["detail"]
