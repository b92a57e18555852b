"""What the API says when something is wrong: who may what, and that no fault becomes a 500."""

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from profiling.models import Run
from profiling.services.tokens import token_create
from profiling.throttles import TokenRateThrottle

WORKLOAD = {"name": "New", "kind": "training", "network": "x", "minibatch": 1}
WORKLOADS = "/api/v1/workloads/"


def program(user, *scopes) -> APIClient:
    _, text = token_create(user=user, name="t", scopes=scopes)
    return APIClient(headers={"Authorization": f"Bearer {text}"})


@pytest.mark.parametrize(
    ("who", "scopes", "read", "write"),
    [
        ("vera", ["read"], 200, 403),
        ("eng", ["read"], 200, 403),
        ("eng", ["upload"], 403, 201),
        ("eng", ["plan"], 403, 403),
        ("eng", ["read", "upload"], 200, 201),
        ("ada", ["read", "upload"], 200, 201),
    ],
)
def test_role_and_scope_must_both_allow_it(request, who, scopes, read, write):
    client = program(request.getfixturevalue(who), *scopes)
    assert client.get(WORKLOADS).status_code == read
    assert client.post(WORKLOADS, WORKLOAD).status_code == write


def test_a_person_who_lost_the_role_loses_it_in_tokens_too(eng):
    client = program(eng, "read", "upload")
    eng.groups.clear()
    assert client.post(WORKLOADS, WORKLOAD).status_code == 403


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer jl_wrong"}, {"Authorization": "Bearer a b"}]
)
def test_strangers_are_told_to_bring_a_token(db, header):
    answer = APIClient(headers=header).get(WORKLOADS)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize(
    ("method", "url", "options", "status"),
    [
        ("get", "/api/v1/nothing/", {}, 404),
        ("post", "/api/v1/workloads", {"data": WORKLOAD}, 404),
        ("get", f"{WORKLOADS}none/", {}, 404),
        ("delete", f"{WORKLOADS}none/", {}, 405),
        ("post", WORKLOADS, {"data": "<a/>", "content_type": "text/xml"}, 415),
        ("post", WORKLOADS, {"data": "{", "content_type": "application/json"}, 400),
        ("post", WORKLOADS, {"data": '{"minibatch": NaN}', "content_type": "application/json"}, 400),
        ("post", WORKLOADS, {"data": "[" * 100_000, "content_type": "application/json"}, 400),
        ("post", WORKLOADS, {"data": b"\xff\xfe\x00", "content_type": "application/json"}, 400),
        ("post", WORKLOADS, {"data": [1, 2]}, 400),
        ("get", WORKLOADS, {"headers": {"Accept": "text/html"}}, 406),
        ("get", "/api/v1/uploads/99999999999999999999999999/", {}, 404),
        ("get", "/api/v1/runs/?upload=99999999999999999999999999", {}, 400),
        ("get", "/api/v1/runs/facets/?upload=-1e308", {}, 400),
        ("get", "/api/v1/runs/?sweep=1.5", {}, 400),
        ("get", "/api/v1/runs/?kind=%25&emulated=%25s&workload=%25d", {}, 400),
        ("get", "/api/v1/runs/?flagged=%25", {}, 400),
        ("get", "/api/v1/uploads/?emulated=%25", {}, 400),
        ("get", "/api/v1/workloads/?kind=%25&minibatch=%25", {}, 400),
    ],
)
def test_each_fault_has_its_answer(api, method, url, options, status):
    answer = getattr(api, method)(url, **options)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (rb'"\ud800"', "surrogates"),
        (b'"\xed\xa0\x80"', "can't decode"),
        (rb'"\u0000"', "NUL"),
        (rb'{"\ud800": 1}', "surrogates"),
        (b"1e400", "too large a number"),
    ],
)
def test_what_no_database_or_answer_can_hold_is_refused_in_any_field(api, value, said):
    body = (
        b'{"name": "N", "kind": "training", "network": "n", "minibatch": 1, "runner_options": {"data": %s}}'
    )
    answer = api.generic("POST", WORKLOADS, body % value, content_type="application/json")
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_any_other_text_may_be_spelled_with_backslashes(api):
    body = rb'{"name": "\u00e9\ud83d\ude00 \\u0000", "kind": "training", "network": "n", "minibatch": 1}'
    answer = api.generic("POST", WORKLOADS, body, content_type="application/json")
    assert answer.json()["name"] == "é😀 \\u0000"


def test_a_json_body_has_a_limit(api, monkeypatch):
    monkeypatch.setattr("jetsonlab.parsers.JSON_MAX_BYTES", 10)
    assert api.post(WORKLOADS, WORKLOAD).status_code == 413


def test_a_json_body_may_be_larger_than_a_form(api):
    """An hour of telemetry is; Django keeps forms to 2.5 MB."""
    assert api.post(WORKLOADS, {**WORKLOAD, "runner_options": {"note": "x" * 3_000_000}}).status_code == 201


def test_a_field_named_twice_is_refused(api):
    answer = api.post(WORKLOADS, '{"name": "a", "name": "b"}', content_type="application/json")
    assert answer.status_code == 400
    assert "names 'name' twice" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("url", "data", "unknown"),
    [
        (WORKLOADS, {**WORKLOAD, "minibach": 1}, "minibach"),
        ("/api/v1/plans/", {"power_mW": 15_000}, "power_mW"),
        ("/api/v1/runs/", {"workload": "resnet", "emulatd": True, "runs": [{}]}, "emulatd"),
        ("/api/v1/uploads/?emulatd=true&filename=a.csv", {}, "emulatd"),
    ],
)
def test_a_misspelt_field_is_refused(api, resnet, url, data, unknown):
    answer = api.post(url, data, **({"format": "multipart"} if "uploads" in url else {}))
    assert answer.status_code == 400
    assert answer.json()["errors"][unknown][0].startswith("No such field. There are: ")


def test_who_chooses_wrongly_is_told_what_there_is(api, resnet):
    answer = api.post(WORKLOADS, {**WORKLOAD, "kind": "sleeping"})
    assert answer.json()["errors"]["kind"] == ["“sleeping” is none of: training, inference."]


@pytest.mark.parametrize("flag", [True, False])
def test_true_is_no_number(api, resnet, orin, flag):
    run = Run.objects.create(workload=resnet, device_model=orin, minibatch=1, power_mw=5)
    body = {"reason": "x", "changes": {"power_mw": flag}}
    answer = api.post(f"/api/v1/runs/{run.pk}/corrections/", body)
    assert answer.json()["errors"] == {"changes": {"power_mw": ["A valid number is required."]}}


def test_what_was_read_can_be_sent_back(api, resnet):
    known = api.get(f"{WORKLOADS}resnet/").json()
    assert api.patch(f"{WORKLOADS}resnet/", known).status_code == 200


def test_every_fault_of_a_body_is_told_at_once(api):
    answer = api.post(WORKLOADS, {"nonsense": 1, "minibatch": "many"})
    assert {"nonsense", "minibatch", "name"} <= set(answer.json()["errors"])


def test_a_forgotten_slash_is_pointed_out(api):
    assert "end with a slash" in api.get("/api/v1/runs").json()["detail"]


def test_a_wrong_address_is_no_question_of_forms(db):
    assert APIClient(enforce_csrf_checks=True).post("/api/v1/uploads/sweep.csv").status_code == 404


def test_a_wild_program_is_slowed_down_alone(eng, monkeypatch):
    monkeypatch.setattr(TokenRateThrottle, "THROTTLE_RATES", {"user": "2/min"})
    wild, calm = program(eng, "read"), program(eng, "read")
    assert [wild.get(WORKLOADS).status_code for _ in range(3)] == [200, 200, 429]
    assert calm.get(WORKLOADS).status_code == 200
    assert int(wild.get(WORKLOADS)["Retry-After"]) > 0


def test_the_schema_validates_without_a_warning(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))


def test_the_schema_and_its_page_are_served(client, db):
    assert client.get("/api/schema/").status_code == 200
    assert b"swagger" in client.get("/api/docs/").content


def test_even_an_address_with_a_line_break_gets_a_problem(api):
    answer = api.get("/api/v1/datasets/a%0Ab/versions/-1/file/")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
