import pytest
from django.test import Client
from rest_framework.test import APIClient

from profiling.errors import Conflict
from profiling.knobs import Knobs
from profiling.models import AuditEntry
from profiling.services.audit import Action, audit, client_address
from profiling.services.devices import device_create, device_token_create
from profiling.services.sweeps import sweep_cancel, sweep_request, sweep_resume
from profiling.services.tokens import token_create, token_revoke
from profiling.services.workloads import workload_create, workload_update

FAST = Knobs(6, 2_201_600, 1_300_500, 3_199_000)


def last() -> AuditEntry:
    return AuditEntry.objects.latest("id")


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def test_a_line_says_who_did_what(eng, resnet):
    entry = audit(Action.WORKLOAD_CHANGE, resnet, user=eng, changed=["notes"])
    assert str(entry) == "eng changed the workload ResNet-18 / ImageNet"
    assert (entry.kind, entry.object_id) == ("workload", str(resnet.pk))
    assert (entry.via, entry.address) == ("command", None)


def test_nothing_in_it_is_changed_or_removed(eng):
    entry = audit(Action.SIGN_IN, user=eng)
    for change in (entry.save, entry.delete, AuditEntry.objects.all().delete):
        with pytest.raises(Conflict, match="audit log"):
            change()
    with pytest.raises(Conflict, match="audit log"):
        AuditEntry.objects.update(actor_name="somebody else")


def test_who_is_removed_keeps_the_name(vera):
    audit(Action.SIGN_IN, user=vera)
    vera.delete()
    assert (last().actor, last().actor_name) == (None, "vera")


def test_a_program_is_named_by_its_key_and_address(api, eng):
    answer = api.post(
        "/api/v1/workloads/",
        {"name": "w", "kind": "training", "network": "n", "minibatch": 1},
        REMOTE_ADDR="10.1.2.3",
    )
    assert answer.status_code == 201
    assert (last().action, last().actor, last().via) == ("workload-create", eng, "api")
    assert last().token.startswith("tests (jl_")
    assert last().address == "10.1.2.3"


def test_a_forged_address_is_not_believed(browser, settings):
    browser.post("/new-workload/", {"name": "w", "kind": "training", "network": "n", "minibatch": 1})
    Client().post("/login/", {"username": "x", "password": "y"}, headers={"X-Forwarded-For": "6.6.6.6"})
    assert (last().action, last().label, last().address) == ("sign-in-failed", "x", "127.0.0.1")


@pytest.mark.parametrize(
    ("proxies", "told", "address"),
    [
        (1, "6.6.6.6, 10.0.0.7", "10.0.0.7"),
        (2, "6.6.6.6, 10.0.0.7", "6.6.6.6"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "no address", None),
        (1, "", "127.0.0.1"),
    ],
)
def test_as_many_proxies_as_are_trusted_are_believed(proxies, told, address, rf, settings):
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "NUM_PROXIES": proxies}
    headers = {"X-Forwarded-For": told} if told else {}
    assert client_address(rf.get("/", headers=headers)) == address


def test_signing_in_and_out_is_written_down(eng):
    client = Client()
    client.post("/login/", {"username": "eng", "password": "eng-long-password"})
    client.post("/logout/")
    assert actions() == ["sign-in", "sign-out"]
    assert last().actor_name == "eng"


def test_inventory_and_keys_are_written_down(eng, orin):
    workload = workload_create(user=eng, name="w", kind="training", network="n", minibatch=1)
    workload_update(workload=workload, user=eng, notes="new")
    device = device_create(user=eng, name="Desk 9", driver="emulated", device_model=orin)
    device_token_create(device=device, user=eng)
    token, text = token_create(user=eng, name="t", scopes=["read"])
    for _ in range(2):
        token_revoke(token=token, user=eng)
    made = ["workload-create", "workload-change", "device-create", "token-make", "token-make", "token-revoke"]
    assert actions() == made
    assert text not in str(list(AuditEntry.objects.values()))


def test_who_had_which_mode_applied_to_which_board(board, resnet, eng):
    sweep = sweep_request(device=board, workload=resnet, strategy="list", modes=[FAST], user=eng)
    _, text = device_token_create(device=board, user=eng)
    agent = APIClient(headers={"Authorization": f"Bearer {text}"})
    run = agent.post("/api/v1/agent/claim/", {"agent": "a1"}).json()["id"]
    result = {"measured": {"time_ms": 59.0, "power_mw": 20_000.0}}
    for _ in range(2):
        assert agent.post(f"/api/v1/agent/runs/{run}/result/", result).status_code == 200
    applied = AuditEntry.objects.get(action="mode-apply")
    assert (applied.label, applied.via) == ("Desk 1", "agent")
    assert applied.details["mode"] == FAST._asdict()
    assert applied.details["for"] == "eng"
    assert applied.details["sweep"] == sweep.pk


def test_what_is_applied_by_hand_is_told(board, eng):
    _, text = device_token_create(device=board, user=eng)
    agent = APIClient(headers={"Authorization": f"Bearer {text}"})
    told = {"agent": "a1", "knobs": FAST._asdict(), "by": "nora"}
    assert agent.post("/api/v1/agent/mode/", told).status_code == 200
    assert (last().action, last().label, last().details["by"]) == ("mode-apply", "Desk 1", "nora")
    assert agent.post("/api/v1/agent/mode/", {**told, "knobs": None}).status_code == 200
    assert last().action == "mode-restore"
    assert agent.post("/api/v1/agent/mode/", {**told, "knobs": {"cores": 4}}).status_code == 400


def test_sweeps_are_written_down(board, resnet, eng):
    sweep = sweep_request(device=board, workload=resnet, strategy="list", modes=[FAST], user=eng)
    sweep_cancel(sweep=sweep)
    sweep.refresh_from_db()
    sweep_resume(sweep=sweep)
    assert actions() == ["sweep-request", "sweep-cancel", "sweep-resume"]


def test_what_the_administration_changes_is_written_down(ada, board):
    client = Client()
    client.force_login(ada)
    chosen = {"action": "retire", "_selected_action": [board.pk]}
    client.post("/admin/profiling/device/", chosen)
    assert (last().action, last().label, last().details["said"]) == ("admin", "Desk 1", "Retired.")
    assert last().via == "admin"


def test_administrators_list_it_over_the_api(eng, ada, board):
    audit(Action.SIGN_IN, user=eng)
    audit(Action.DEVICE_CREATE, board, user=ada)
    _, text = token_create(user=ada, name="t", scopes=["read"])
    client = APIClient(headers={"Authorization": f"Bearer {text}"})
    found = client.get("/api/v1/audit/", {"actor": "ada", "words": "desk"}).json()["results"]
    assert [(each["action"], each["label"]) for each in found] == [("device-create", "Desk 1")]
    assert client.get("/api/v1/audit/", {"who": "ada"}).status_code == 400


def test_engineers_do_not(api):
    assert api.get("/api/v1/audit/").status_code == 403


def test_what_is_no_address_is_said_to_be_none(ada):
    client = Client()
    client.force_login(ada)
    assert client.get("/api/v1/audit/", {"address": "%"}).status_code == 400
    assert "Enter a valid IPv4 or IPv6 address" in client.get("/audit/", {"address": "%"}).content.decode()
    assert client.get("/api/v1/audit/", {"address": "127.0.0.1"}).status_code == 200
