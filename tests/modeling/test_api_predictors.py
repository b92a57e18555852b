import csv
import io

import pytest

from modeling.models import Predictor
from modeling.services.predictors import predictor_request
from modeling.tasks import fit_predictor
from tests.modeling.conftest import FEW
from tests.tokens import program_with, token_of

URL = "/api/v1/predictors/"


def test_a_request_is_accepted_and_can_be_followed(api, resnet, orin, measure):
    measure(resnet, FEW)
    asked = {"workload": "resnet", "device_model": "orin-mini", "method": "gp"}
    reply = api.post(URL, asked)
    assert reply.status_code == 202
    assert reply.data["state"] == "pending"
    fit_predictor(reply.data["id"])
    found = api.get(f"{URL}{reply.data['id']}/").data
    assert (found["state"], found["steps_done"], found["steps_total"]) == ("ready", 4, 4)
    assert (found["requested_by"], found["stale"]) == ("eng", False)
    assert found["card"]["rows"] == len(FEW)


def test_references_are_named_by_slug(api, resnet, yolo, orin, measure):
    measure(resnet, FEW)
    measure(yolo, FEW)
    reply = api.post(URL, {"workload": "resnet", "device_model": "orin-mini", "references": ["yolo"]})
    assert reply.data["references"] == ["yolo"]


def test_nothing_measured_is_a_conflict_with_advice(api, resnet, orin):
    reply = api.post(URL, {"workload": "resnet", "device_model": "orin-mini", "method": "gp"})
    assert reply.status_code == 409
    assert "run a sweep" in reply.json()["detail"]


@pytest.mark.parametrize(
    "wrong", [{"workload": "none"}, {"device_model": "pi"}, {"method": "oracle"}, {"seed": -1}, {"seed": "x"}]
)
def test_a_bad_field_is_named(api, resnet, orin, measure, wrong):
    measure(resnet, FEW)
    reply = api.post(URL, {"workload": "resnet", "device_model": "orin-mini", **wrong})
    assert reply.status_code == 400
    assert list(reply.json()["errors"]) == list(wrong)


def test_a_token_to_read_may_not_fit(eng, resnet, orin):
    reply = program_with(token_of(eng, "read")).post(URL, {"workload": "resnet", "device_model": "orin-mini"})
    assert reply.status_code == 403


def test_a_viewer_may_not_fit(vera, resnet, orin):
    program = program_with(token_of(vera, "read", "plan"))
    reply = program.post(URL, {"workload": "resnet", "device_model": "orin-mini"})
    assert reply.status_code == 403


def test_a_viewer_may_look(vera, ready):
    assert program_with(token_of(vera, "read")).get(f"{URL}{ready.pk}/").status_code == 200


def test_predictions_come_in_columns(api, ready, orin):
    columns = api.get(f"{URL}{ready.pk}/predictions/").data
    assert list(zip(columns["cores"], columns["cpu_khz"], strict=True)) == [
        tuple(row) for row in orin.all_modes()[:, :2].tolist()
    ]
    assert len(columns["time_ms"]) == len(columns["power_log_sd"]) == 36
    assert set(columns["minibatch"]) == {16}


def test_predictions_come_as_csv(api, ready):
    reply = api.get(f"{URL}{ready.pk}/predictions/?format=csv")
    assert reply["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(reply.content.decode())))
    assert len(rows) == 36
    assert float(rows[0]["time_ms"]) > 0


@pytest.mark.parametrize("query", ["", "?format=csv"])
def test_predictions_of_an_unfitted_one_are_a_conflict(api, resnet, orin, measure, query):
    measure(resnet, FEW)
    waiting = predictor_request(workload=resnet, device_model=orin)
    reply = api.get(f"{URL}{waiting.pk}/predictions/{query}")
    assert reply.status_code == 409
    assert "pending" in reply.json()["detail"]


def test_a_failed_one_is_tried_again(api, ready):
    assert api.post(f"{URL}{ready.pk}/retry/").status_code == 409
    Predictor.objects.update(state="failed", failure="out of memory")
    reply = api.post(f"{URL}{ready.pk}/retry/")
    assert (reply.status_code, reply.data["state"]) == (202, "pending")


def test_the_list_is_filtered_and_costs_a_fixed_number_of_queries(
    api, ready, fit, yolo, measure, django_assert_max_num_queries
):
    measure(yolo, FEW)
    fit(yolo)
    fit(method="nearest")
    assert [each["workload"] for each in api.get(f"{URL}?workload=yolo").data["results"]] == ["yolo"]
    with django_assert_max_num_queries(6):
        assert len(api.get(URL).data["results"]) == 3
