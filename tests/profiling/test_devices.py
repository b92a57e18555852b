import pytest
from rest_framework.test import APIClient

from profiling.errors import Conflict, Forbidden, InvalidInput
from profiling.knobs import Knobs
from profiling.models import ApiToken, Device, PowerMode, Run
from profiling.selectors.devices import device_model_list
from profiling.services.agents import device_enrol
from profiling.services.devices import device_create, device_token_create, enrol_command
from profiling.services.sweeps import sweep_request

OWN = {"cores": [1, 2, 3, 4], "cpu_khz": [2_400_000], "gpu_khz": [0], "mem_khz": [0]}


@pytest.fixture
def desktop(eng):
    return device_create(user=eng, name="Ada's desktop", driver="host")


def enrol(device, ranges=OWN):
    software = {"kernel": "6.1"}
    device_enrol(device=device, agent="a1", description={"ranges": ranges, "software": software})
    return Device.objects.select_related("device_model").get(pk=device.pk)


def test_a_host_gets_a_device_model_of_its_own(desktop):
    assert (desktop.slug, desktop.device_model.slug) == ("adas-desktop", "host-adas-desktop")
    assert desktop.device_model.is_host


def test_a_host_tells_its_knobs_when_it_enrols(desktop):
    found = enrol(desktop)
    assert found.own_ranges is None
    assert found.ranges.maximum == Knobs(4, 2_400_000, 0, 0)
    assert found.device_model.power_modes.exclude(rank=None).count() == 4


def test_a_host_that_changed_keeps_the_modes_of_its_runs(desktop, resnet):
    enrol(desktop)
    found = enrol(desktop, {**OWN, "cores": [1, 2]})
    assert found.ranges.cores == (1, 2)
    assert PowerMode.objects.filter(device_model=found.device_model, rank=None, cores=4).exists()


def test_a_sweep_on_a_host_waits_for_its_enrolment(desktop, resnet):
    with pytest.raises(Conflict, match="not enrolled yet"):
        sweep_request(device=desktop, workload=resnet, strategy="list", modes=[Knobs(1, 0, 0, 0)])
    modes = [Knobs(cores, 2_400_000, 0, 0) for cores in OWN["cores"]]
    sweep = sweep_request(device=enrol(desktop), workload=resnet, strategy="list", modes=modes)
    assert all(run.power_mode for run in sweep.runs.all())


@pytest.mark.parametrize("cores", [[0], [0, 1], [-1], ["1"], [1.5], [True], []])
def test_no_machine_has_such_cores(desktop, cores):
    with pytest.raises(InvalidInput, match="ascending"):
        enrol(desktop, {**OWN, "cores": cores})


def test_a_jetson_needs_its_device_model_and_a_host_has_none(eng, orin):
    with pytest.raises(InvalidInput, match="name the board's device model"):
        device_create(user=eng, name="Desk 9")
    with pytest.raises(InvalidInput, match="tells its own knobs"):
        device_create(user=eng, name="Desk 9", driver="host", device_model=orin)


def test_the_command_says_all_the_agent_needs(eng, orin):
    device = device_create(user=eng, name="Desk 9", device_model=orin)
    token, text = device_token_create(device=device, user=eng)
    assert (token.scopes, token.device, token.expires) == (["device"], device, None)
    command = enrol_command(device=device, server="https://lab.example.org/", token=text)
    assert command.startswith(f"./jetsonlab-agent enroll --server https://lab.example.org --token {text} ")
    assert command.endswith("--device desk-9 --driver sysfs --device-model orin-mini")


def test_viewers_make_no_board_tokens(board, vera):
    with pytest.raises(Forbidden):
        device_token_create(device=board, user=vera)


def test_a_program_registers_a_host(api):
    answer = api.post("/api/v1/devices/", {"name": "Build server", "driver": "host"})
    assert (answer.status_code, answer.json()["device_model"]) == (201, "host-build-server")
    assert api.post("/api/v1/devices/", {"name": "Desk 7"}).status_code == 400
    assert api.post("/api/v1/devices/", {"name": "///", "driver": "host"}).status_code == 400


def test_the_enrol_command_is_for_people_who_are_signed_in(api, browser, board):
    url = "/api/v1/devices/desk-1/token/"
    assert api.post(url).status_code == 403
    made = browser.post(url)
    assert made.status_code == 201
    assert made.json()["token"] in made.json()["command"]
    assert ApiToken.objects.get(device=board).digest == ApiToken.digest_of(made.json()["token"])


def test_a_fresh_board_token_serves_the_agent(eng, board):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {device_token_create(device=board, user=eng)[1]}")
    assert client.post("/api/v1/agent/ping/").status_code == 200


def test_a_device_model_counts_its_boards_in_service_and_its_complete_runs(resnet, orin):
    assert [(each.device_count, each.run_count) for each in device_model_list()] == [(0, 0)]
    for slug, retired in (("new", False), ("old", True)):
        Device.objects.create(slug=slug, name=slug, device_model=orin, driver="sysfs", retired=retired)
    for state in ("complete", "failed"):
        Run.objects.create(workload=resnet, device_model=orin, minibatch=1, state=state)
    assert [(each.device_count, each.run_count) for each in device_model_list()] == [(1, 1)]
