import copy
import json
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from jetsonlab.celery import app
from modeling.core.evaluate import main
from modeling.evaluating import results_of
from modeling.models import Evaluation
from modeling.selectors import references
from modeling.selectors.evaluations import leaderboard
from modeling.services import evaluations
from modeling.services.evaluations import evaluation_import, evaluation_request
from modeling.tasks import look_after_work, run_evaluation
from profiling.errors import Conflict, InvalidInput
from tests.modeling.conftest import FEW, truth

URL = "/api/v1/evaluations/"


@pytest.fixture
def printed(orin, tmp_path, capsys):
    """What the command prints for a table of the standing board."""
    modes = orin.all_modes()
    time_ms, power_mw = truth(modes)
    rows = [
        f"{cores},{cpu},{gpu * 1000},{mem * 1000},{time},{power / 1000}"
        for (cores, cpu, gpu, mem), time, power in zip(modes.tolist(), time_ms, power_mw, strict=True)
    ]
    table = tmp_path / "net.csv"
    table.write_text("\n".join(["cores,cpu,gpu,mem,observed_time,observed_power", *rows]))
    options = ["--method", "nearest", "--method", "gp", "--profiled", "10", "--repeats", "2", "--json"]
    assert main(["--target", str(table), *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_commands_output_is_brought_in_as_it_is(api, printed):
    reply = api.post(f"{URL}import/", {"title": "Orin Mini", **printed})
    assert reply.status_code == 201
    assert {each["method"] for each in reply.data["results"]} == {"nearest", "gp"}
    rows = api.get(f"{URL}leaderboard/").data
    assert [row["method"] for row in rows] == ["gp", "nearest"]
    assert rows[0]["time_mape"] == printed["results"][1]["time_mape"]


def test_the_same_output_counts_once(api, printed):
    for _ in range(2):
        api.post(f"{URL}import/", {"title": "Orin Mini", **printed})
    assert Evaluation.objects.count() == 1


@pytest.mark.parametrize("wrong", [{"time_mape": -1}, {"profiled": 0}, {"method": ""}, {"budget": 3}])
def test_figures_that_cannot_be_are_refused(api, printed, wrong):
    bad = copy.deepcopy(printed)
    bad["results"][0] |= wrong
    reply = api.post(f"{URL}import/", {"title": "Orin Mini", **bad})
    assert reply.status_code == 400
    assert list(wrong) == list(reply.json()["errors"]["results"]["0"])


def test_a_newer_result_takes_an_older_ones_place(printed):
    evaluation_import(title="Orin Mini", results=printed["results"])
    again = copy.deepcopy(printed["results"])
    again[0]["time_mape"] = 0.5
    evaluation_import(title="Orin Mini", results=again)
    assert [row["time_mape"] for row in leaderboard() if row["method"] == "nearest"] == [0.5]


def test_the_leaderboard_is_filtered_by_target(printed):
    evaluation_import(title="Orin Mini", results=printed["results"])
    assert len(leaderboard(target="net")) == 2
    assert leaderboard(target="other") == []


@pytest.fixture
def full(resnet, measure, monkeypatch):
    monkeypatch.setattr(references, "REFERENCE_MODES", 30)
    monkeypatch.setattr(evaluations, "REFERENCE_MODES", 30)
    measure(resnet, range(36))
    return resnet


def test_a_worker_evaluates_what_the_database_holds(full, orin):
    asked = evaluation_request(
        workload=full, device_model=orin, methods=["nearest", "linear"], counts=[5, 10], repeats=2
    )
    run_evaluation(asked.pk)
    asked.refresh_from_db()
    assert (asked.state, asked.failure) == ("ready", "")
    assert [(each["method"], each["profiled"]) for each in asked.results] == [
        ("nearest", 5),
        ("nearest", 10),
        ("linear", 5),
        ("linear", 10),
    ]


def test_a_doubled_message_evaluates_once(full, orin):
    asked = evaluation_request(workload=full, device_model=orin, methods=["nearest"], counts=[5], repeats=1)
    run_evaluation(asked.pk)
    before = Evaluation.objects.values().get()
    run_evaluation(asked.pk)
    assert Evaluation.objects.values().get() == before


def test_a_failure_is_kept_with_its_reason(full, orin):
    asked = evaluation_request(workload=full, device_model=orin, methods=["nearest"], counts=[5], repeats=1)
    full.runs.all().delete()
    run_evaluation(asked.pk)
    asked.refresh_from_db()
    assert asked.state == "failed"
    assert asked.failure


def test_every_trial_is_a_step(full, orin):
    asked = evaluation_request(
        workload=full, device_model=orin, methods=["nearest", "linear"], counts=[5, 10], repeats=2
    )
    assert (asked.steps_done, asked.steps_total) == (0, 8)
    evaluation = evaluations.evaluation_claim(evaluation_id=asked.pk)
    results_of(evaluation)
    assert Evaluation.objects.get().steps_done == 8


@pytest.fixture
def silent(full, orin):
    """An evaluation whose worker has not been heard of for an hour."""
    asked = evaluation_request(workload=full, device_model=orin, methods=["nearest"], counts=[5], repeats=1)
    evaluation = evaluations.evaluation_claim(evaluation_id=asked.pk)
    Evaluation.objects.update(heartbeat=timezone.now() - timedelta(hours=1))
    return evaluation


def test_a_dead_workers_evaluation_is_handed_on(silent, sent, after_commit):
    sent.clear()
    with after_commit(execute=True):
        look_after_work()
    assert Evaluation.objects.get().state == "pending"
    assert sent == [silent.pk]


def test_after_three_silences_it_is_given_up(silent):
    Evaluation.objects.update(attempts=3)
    evaluations.evaluations_rescue()
    assert Evaluation.objects.get().state == "failed"
    assert "fell silent 3 times" in Evaluation.objects.get().failure


def test_a_worker_that_was_replaced_changes_nothing(silent):
    evaluations.evaluations_rescue()
    evaluations.evaluation_claim(evaluation_id=silent.pk)
    evaluations.evaluation_finish(evaluation=silent, results=[])
    assert Evaluation.objects.get().state == "running"


def test_a_busy_worker_is_left_alone(silent):
    evaluations.evaluation_progress(evaluation=silent, step="nearest", done=1)
    evaluations.evaluations_rescue()
    assert Evaluation.objects.get().state == "running"


def test_what_is_scheduled_exists():
    app.loader.import_default_modules()
    assert {each["task"] for each in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)


def test_a_few_measured_modes_are_no_truth(resnet, orin, measure):
    measure(resnet, FEW)
    with pytest.raises(Conflict, match="takes at least 100"):
        evaluation_request(workload=resnet, device_model=orin, methods=["nearest"])


def test_unknown_names_are_refused(full, orin):
    with pytest.raises(InvalidInput, match="oracle: no such method"):
        evaluation_request(workload=full, device_model=orin, methods=["oracle"])
    with pytest.raises(InvalidInput, match="no way of sampling"):
        evaluation_request(workload=full, device_model=orin, methods=["gp"], sampling="dice")


def test_it_is_asked_for_over_rest(api, full):
    asked = {"workload": "resnet", "device_model": "orin-mini", "methods": ["nearest"], "counts": [5]}
    reply = api.post(URL, asked)
    assert (reply.status_code, reply.data["state"]) == (202, "pending")
    assert api.get(f"{URL}{reply.data['id']}/").data["options"]["counts"] == [5]
    assert len(api.get(URL).data["results"]) == 1
