"""Every address × every kind of person and key: exactly the rights that docs/operations.md states.

A new address needs a line there; the first test says which, and where.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.views import APIView

from profiling.models import ApiToken, Device, Run, Upload
from profiling.services.datasets import dataset_create
from profiling.services.devices import device_token_create
from profiling.services.saved_views import saved_view_keep
from profiling.services.sweeps import sweep_request
from profiling.services.tokens import token_create
from profiling.services.transfers import transfer_begin
from tests.conftest import person
from tests.rights import ACTORS, Door, Right, doors, levels, rights

ADMINISTRATION = "/admin/…"
PROPOSAL = {"columns": [{"column": "t", "field": "", "unit": ""}]}
WRITES = re.compile(r"(INSERT|UPDATE|DELETE) (?!.*(django_session|usersession))")


def is_refused(answer: HttpResponse) -> bool:
    to_sign_in = answer.status_code == 302 and re.match(r"/(admin/)?login/\?next=", answer.url)
    return answer.status_code in (401, 403) or bool(to_sign_in)


@contextmanager
def undone(client: Client) -> Iterator[None]:
    """Whatever is asked, the next one asks the same lab, and is still signed in."""
    kept = dict(client.cookies)
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    client.cookies.clear()
    client.cookies.update(kept)


@pytest.fixture
def lab(ada, eng, vera, resnet, orin, board, settings, monkeypatch) -> dict[str, Any]:
    """Something of most kinds, so that doors lead somewhere: noun -> what stands for it in an address."""
    monkeypatch.setattr(APIView, "throttle_classes", [])
    settings.ACCOUNT_RATE_LIMITS = False
    about = {"workload": resnet, "device_model": orin}
    run = Run.objects.create(**about, device=board, minibatch=16, cores=2, time_ms=1, power_mw=1)
    upload = Upload.objects.create(**about, filename="a.csv", size=1, uploader=eng, proposal=PROPOSAL)
    sweep = sweep_request(device=board, workload=resnet, strategy="list", modes=[orin.maximum], user=eng)
    dataset = dataset_create(user=eng, name="All", description="x", licence="CC0-1.0", filters={})
    token, _ = token_create(user=eng, name="t", scopes=["read"])
    view = saved_view_keep(user=eng, page="run-list", name="v", query="cores=2")
    return {
        "runs": run.pk,
        "uploads": upload.pk,
        "sweeps": sweep.pk,
        "tokens": token.pk,
        "people": vera.pk,
        "workloads": resnet.slug,
        "devices": board.slug,
        "device-models": orin.slug,
        "datasets": dataset.slug,
        "<step>": "close",
        "<sha256>": "0" * 64,
        "views": view.pk,
        "pending": sweep.runs.get().pk,
        "transfers": transfer_begin(user=eng, filename="a.csv", size=2, about={})[0].pk,
    }


def path_of(door: Door, lab: dict[str, Any]) -> str:
    """The address with something in its brackets: the noun's own before them, else by their name, else 1."""
    words = door.address.split("/")
    for place, word in enumerate(words):
        found = lab.get(words[place - 1]) or lab.get(word) or 1
        words[place] = re.sub(r"<\w+>", str(found), word)
    return "/".join(words)


def ask(client: Client, door: Door, lab: dict[str, Any]) -> HttpResponse:
    kind = "application/json" if door.address.startswith("/api/") else "application/x-www-form-urlencoded"
    body = "{}" if kind.endswith("json") else ""
    with undone(client):
        return client.generic(door.method, path_of(door, lab), body, content_type=kind)


@pytest.fixture
def clients(lab, ada, eng, vera, board) -> dict[str, Client]:
    made = {"stranger": Client(raise_request_exception=False)}
    for actor, user in (("viewer", vera), ("engineer", eng), ("administrator", ada)):
        made[actor] = Client(raise_request_exception=False)
        made[actor].force_login(user)
    for scope in ApiToken.Scope:
        device = board if scope == "device" else None
        _, text = token_create(user=ada, name=scope, scopes=[scope], device=device)
        made[scope] = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {text}"})
    return made


def is_administration(door: Door) -> bool:
    return door.address.startswith("/admin/")


def line_for(door: Door) -> str:
    return f"| {door.method} | `{door.address}` | <level> | <token scope or –> | |"


def test_every_address_is_in_the_table() -> None:
    """A page may leave away the method it has no use for."""
    written = rights()
    paged = {door.address for door in written if not door.address.startswith("/api/")}
    missing = [
        door
        for door in doors()
        if door not in written and door.address not in paged and not is_administration(door)
    ]
    lines = "\n".join(line_for(door) for door in missing)
    words = ", ".join(levels())
    assert not missing, (
        f"New addresses. Add to docs/operations.md, at the end, in the table below '### Addresses', in "
        f"alphabetical order (levels: {words}; of a page name the methods it is for):\n{lines}"
    )


def test_every_line_of_the_table_is_an_address() -> None:
    gone = [door for door in rights() if door not in doors() and door.address != ADMINISTRATION]
    assert not gone, f"No such address any more. Take out of docs/operations.md, '### Addresses': {gone}"


def allowed(right: Right, actor: str, opened: bool) -> bool:
    if actor in ApiToken.Scope.values and right.level != "everybody":
        return right.scope == actor
    said = levels()[right.level]["device token" if actor in ApiToken.Scope.values else actor]
    return said == "yes" or (opened and said.startswith("if"))


PEOPLE = ACTORS[:4]
PROGRAMS = ("read", "upload", "plan")  # they stop where the device token does: at every page
ASKING = [*((actor, False) for actor in (*PEOPLE, *ApiToken.Scope.values)), ("stranger", True)]


@pytest.mark.parametrize(("actor", "opened"), ASKING)
def test_each_has_exactly_the_rights_written(actor, opened, clients, lab, settings) -> None:
    settings.ANONYMOUS_READING = opened
    faults = []
    for door, right in rights().items():
        if door.address == ADMINISTRATION or (actor in PROGRAMS and not door.address.startswith("/api/")):
            continue
        answer, may = ask(clients[actor], door, lab), allowed(right, actor, opened)
        somebody_elses = right.own and actor != "engineer"  # what stands in the lab is Eng's
        wrong = is_refused(answer) and not somebody_elses if may else not is_refused(answer)
        if answer.status_code >= 500 or wrong:
            found = f"{answer.status_code} {getattr(answer, 'url', '')}".strip()
            faults.append(
                f"{door.method} {door.address}: '{right.level}' means {'yes' if may else 'no'}: {found}"
            )
        faults += lax_policy(door, answer)
    assert not faults, f"docs/operations.md says otherwise of a {actor}:\n" + "\n".join(faults)


def lax_policy(door: Door, answer: HttpResponse) -> list[str]:
    policy = answer.headers.get("Content-Security-Policy", "nothing")
    lax = set(re.findall(r"'unsafe-[\w-]+'|nothing", policy)) - (
        {"'unsafe-eval'"} if door.address == "/plan/" else set()
    )
    return [f"{door.method} {door.address}: its content security policy has {sorted(lax)}"] if lax else []


def test_the_administration_is_for_administrators_alone(clients, lab) -> None:
    index = Door("GET", "/admin/")
    assert ask(clients["administrator"], index, lab).status_code == 200
    open_to_all = {"/admin/login/", "/admin/logout/"}
    faults = [
        f"{actor}: {door.method} {door.address}"
        for door in doors()
        if is_administration(door) and door.address not in open_to_all
        for actor in ("stranger", "viewer", "engineer", "device")
        if not is_refused(ask(clients[actor], door, lab))
    ]
    assert faults == []


def test_posting_to_a_page_that_shows_changes_nothing(clients, lab) -> None:
    written = rights()
    shows = [door for door in doors() if door.method == "POST" and Door("GET", door.address) in written]
    faults = []
    for door in shows:
        if door in written or door.address.startswith("/api/"):
            continue
        with CaptureQueriesContext(connection) as asked:
            ask(clients["administrator"], door, lab)
        faults += [f"{door.address}: {each['sql'][:80]}" for each in asked if WRITES.match(each["sql"])]
    assert faults == []


MAPPING = {"fields": {"time_ms": {"column": "t", "unit": "ms"}}}
RESULT = {"measured": {"time_ms": 1.0, "power_mw": 1.0}}
WORKLOAD = {"name": "W", "kind": "training", "network": "n", "minibatch": 16}
# What to send, so that only whose it is decides.
OWN: dict[Door, Any] = {
    Door("PATCH", "/api/v1/workloads/<slug>/"): {"notes": "x"},
    Door("POST", "/api/v1/workloads/<slug>/package/"): b"no zip",
    Door("PUT", "/api/v1/workloads/<slug>/package/"): b"no zip",
    Door("PATCH", "/api/v1/datasets/<slug>/"): {"description": "y"},
    Door("POST", "/api/v1/datasets/<slug>/versions/"): {},
    Door("POST", "/api/v1/uploads/<pk>/choice/"): {"choice": "nothing"},
    Door("POST", "/api/v1/uploads/<pk>/mapping/"): MAPPING,
    Door("POST", "/api/v1/uploads/<pk>/undo/"): {},
    Door("PATCH", "/api/v1/transfers/<pk>/"): b"x",
    Door("DELETE", "/api/v1/transfers/<pk>/"): {},
    Door("GET", "/api/v1/tokens/<pk>/"): {},
    Door("DELETE", "/api/v1/tokens/<pk>/"): {},
    Door("POST", "/api/v1/agent/runs/<pk>/heartbeat/"): {"agent": "a1", "status": {}},
    Door("POST", "/api/v1/agent/runs/<pk>/result/"): RESULT,
    Door("POST", "/api/v1/agent/runs/<pk>/failure/"): {"reason": "x"},
    Door("POST", "/datasets/<slug>/back/"): {},
    Door("POST", "/datasets/<slug>/edit/"): {"name": "All", "description": "y", "licence": "MIT"},
    Door("POST", "/datasets/<slug>/freeze/"): {},
    Door("POST", "/workloads/<slug>/edit/"): WORKLOAD,
    Door("POST", "/workloads/<slug>/package/"): {"file": b"no zip"},
    Door("POST", "/uploads/<pk>/columns/"): {"column-0": "time_ms:ms"},
    Door("POST", "/uploads/<pk>/choice/"): {"choice": "nothing"},
    Door("POST", "/uploads/<pk>/undo/"): {},
    Door("POST", "/tokens/<pk>/revoke/"): {},
    Door("POST", "/views/<pk>/delete/"): {},
}


def test_whose_it_is_matters_where_the_table_says_so() -> None:
    marked = {door for door, right in rights().items() if right.own}
    assert marked == OWN.keys(), "marked 'own' in docs/operations.md, or sent here, but not both"


def send(client: Client, door: Door, lab: dict[str, Any], body: Any) -> int:
    path = path_of(door, lab)
    with undone(client):
        if isinstance(body, bytes):
            path, kind = f"{path}?filename=a.zip", "application/octet-stream"
            return client.generic(door.method, path, body, content_type=kind).status_code
        if door.address.startswith("/api/"):
            return client.generic(door.method, path, json.dumps(body), "application/json").status_code
        files = {
            name: SimpleUploadedFile("a.zip", value) for name, value in body.items() if type(value) is bytes
        }
        return client.post(path, {**body, **files}).status_code


@pytest.mark.parametrize("door", OWN, ids=lambda door: f"{door.method} {door.address}")
def test_what_is_somebody_elses_stays_so(door, lab, eng, board, orin, clients) -> None:
    own, other = clients["engineer"], Client(raise_request_exception=False)
    other.force_login(person("bob", "engineer"))
    if "/agent/" in door.address:
        another = Device.objects.create(slug="desk-2", name="Desk 2", device_model=orin, driver="emulated")
        _, text = device_token_create(device=another, user=eng)
        own, other = clients["device"], Client(headers={"Authorization": f"Bearer {text}"})
        lab["runs"] = lab["pending"]
    assert send(other, door, lab, OWN[door]) in (403, 404)
    assert send(own, door, lab, OWN[door]) not in (401, 403, 404)
