import json
from itertools import chain

import pytest
from drf_spectacular.generators import SchemaGenerator

from modeling.answers import PlanQuestion, as_json
from modeling.models import Plan
from modeling.serializers import PlanAnswerSerializer
from modeling.services.plans import plan_make, plan_save
from tests.tokens import program_with, token_of

URL = "/api/v1/plans/"
PAIR = {"workload": "resnet", "device_model": "orin-mini"}


def test_the_answer_is_that_of_the_page(api, ready, resnet, orin):
    reply = api.post(URL, {**PAIR, "power_mw": 20_000})
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=20_000))
    assert reply.status_code == 200
    assert reply.json() == {"id": None, **json.loads(json.dumps(as_json(answer)))}
    assert not Plan.objects.exists()


def test_all_of_a_question_arrives(api, ready):
    asked = {"epoch_s": 500, "objective": "weighted", "energy_weight": 0.8, "risk": 0.1, "minibatch": 16}
    question = api.post(URL, {**PAIR, **asked, "allowed": {"cores": {"high": 4}}}).json()["question"]
    assert {name: question[name] for name in asked} == asked
    assert question["allowed"] == {"cores": [None, 4]}


def test_a_plan_that_is_kept_can_be_read_again(api, ready):
    reply = api.post(URL, {**PAIR, "power_mw": 20_000, "save": True})
    assert reply.status_code == 201
    kept = api.get(f"{URL}{reply.data['id']}/").json()
    assert kept["answer"] == {name: value for name, value in reply.json().items() if name != "id"}
    assert kept["requested_by"] == "eng"


def test_a_viewer_may_ask_but_not_keep(vera, ready):
    client = program_with(token_of(vera, "read", "plan"))
    assert client.post(URL, {**PAIR, "power_mw": 20_000}).status_code == 200
    reply = client.post(URL, {**PAIR, "save": True})
    assert reply.status_code == 403
    assert "takes an engineer" in reply.json()["detail"]


def test_a_token_to_read_may_not_ask(eng, ready):
    assert program_with(token_of(eng, "read")).post(URL, PAIR).status_code == 403


def test_without_a_predictor_it_is_a_conflict(api, resnet, orin):
    reply = api.post(URL, PAIR)
    assert reply.status_code == 409
    assert "POST /api/v1/predictors/" in reply.json()["detail"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"power_mw": "much"},
        {"power_mw": 0},
        {"power_mw": "nan"},
        {"power_mw": "1e999"},
        {"risk": 0},
        {"risk": 7},
        {"minibatch": "some"},
        {"minibatch": 0},
        {"minibatch": "9" * 400},
        {"allowed": {"cores": {"low": 100}}},
        {"allowed": 3},
        {"objective": "prettiest"},
        {"predictor": 10**30},
        {"predictor": 424242},
    ],
)
def test_a_senseless_question_is_a_clear_4xx(api, ready, wrong):
    reply = api.post(URL, {**PAIR, **wrong})
    assert 400 <= reply.status_code < 500
    assert reply.json()["detail"]


def test_the_list_costs_a_fixed_number_of_queries(
    api, ready, eng, resnet, orin, django_assert_max_num_queries
):
    for watts in (15, 20, 25):
        question = PlanQuestion(power_mw=watts * 1000)
        plan_save(answer=plan_make(workload=resnet, device_model=orin, question=question), user=eng)
    api.get(URL)  # which writes down that the token was used
    with django_assert_max_num_queries(3):
        assert len(api.get(URL).data["results"]) == 3


def test_the_documented_shape_is_the_real_one(ready, resnet, orin):
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=20_000))
    plain = as_json(answer)
    assert json.loads(json.dumps(PlanAnswerSerializer(plain).data)) == json.loads(json.dumps(plain))


def test_every_path_is_documented():
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    told = set(chain.from_iterable((f"{method} {path}" for method in of) for path, of in paths.items()))
    assert {
        "post /api/v1/plans/",
        "get /api/v1/plans/{id}/",
        "post /api/v1/predictors/",
        "get /api/v1/predictors/{id}/predictions/",
        "post /api/v1/predictors/{id}/retry/",
    } <= told


def test_several_budgets_are_answered_at_once_as_each_alone(api, ready):
    powers = [9_000, 15_000, 25_000]
    reply = api.post(f"{URL}sweep/", {**PAIR, "power_mw": powers})
    alone = [api.post(URL, {**PAIR, "power_mw": power}).json() for power in powers]
    wanted = [
        {"power_mw": p, "feasible": a["feasible"], "mode": a["mode"]}
        for p, a in zip(powers, alone, strict=True)
    ]
    assert reply.status_code == 200
    assert reply.json() == wanted
    assert not Plan.objects.exists()


@pytest.mark.parametrize("powers", [[], [0], ["watt"], 20_000, [20_000] * 101, [float("nan")]])
def test_budgets_that_cannot_be_are_refused(api, ready, powers):
    body = json.dumps({**PAIR, "power_mw": powers})
    reply = api.post(f"{URL}sweep/", body, content_type="application/json")
    assert reply.status_code == 400
