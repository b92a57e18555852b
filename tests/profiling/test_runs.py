"""Runs from people's own harnesses, and corrections."""

import pytest

from profiling.errors import Conflict, InvalidInput
from profiling.models import Run, Telemetry, Upload
from profiling.selectors.runs import measured_table, run_list
from profiling.selectors.telemetry import run_telemetry
from profiling.services.agents import run_complete, telemetry_store
from profiling.services.runs import run_correct
from profiling.services.uploads import upload_undo

URL = "/api/v1/runs/"
LOW = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}
ROW = {**LOW, "time_ms": 100, "power_mw": 10_000}
PAIR = {"workload": "resnet", "device_model": "orin-mini"}


@pytest.fixture
def send(api, resnet, orin):
    def send(*rows, key="", **more):
        headers = {"Idempotency-Key": key} if key else {}
        return api.post(URL, {**PAIR, "runs": rows, **more}, headers=headers)

    return send


@pytest.fixture
def run(resnet, orin):
    return Run.objects.create(
        workload=resnet, device_model=orin, minibatch=16, **LOW, time_ms=100, power_mw=1e4, energy_mj=1e6
    )


def test_rows_become_runs_in_their_order(send):
    answer = send(ROW, {**ROW, "cores": 4, "minibatch": 8})
    assert answer.status_code == 201, answer.content
    first, second = Run.objects.order_by("pk")
    assert answer.json()["runs"] == [first.pk, second.pk]
    assert (first.cores, first.time_ms, first.energy_mj, first.minibatch) == (2, 100, 1000, 16)
    assert (second.cores, second.minibatch, second.line, second.state) == (4, 8, 2, "complete")


def test_what_a_harness_knows_beyond_the_table_is_kept(send):
    more = {"fetch_ms": 3.5, "minibatches": 40, "flags": ["hot"], "measured_at": "2026-01-02T03:04:05Z"}
    send({**ROW, **more, "room_c": 21, "site": {"desk": 4}})
    run = Run.objects.get()
    assert (run.fetch_ms, run.minibatches, run.flags, run.measured_at.hour) == (3.5, 40, ["hot"], 3)
    assert run.extra == {"room_c": "21", "site.desk": "4"}


@pytest.mark.parametrize("when", ["yesterday", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_field_of_ours_that_makes_no_sense_is_a_fault(send, when):
    """In extra it would be out of sight: a flag misspelt would be no flag."""
    bad = {"flags": ["purple"], "minibatches": -1, "measured_at": when, "emulated": "perhaps"}
    answer = send({**ROW, "flags": ["hot"]}, {**ROW, **bad, "fetch_ms": "x"}, {**ROW, "time_ms": -1})
    assert answer.json()["detail"].startswith("6 faults in 3 rows, so none was kept")
    found = {(error["line"], error["column"]) for error in answer.json()["errors"]}
    assert found == {(2, name) for name in (*bad, "fetch_ms")} | {(3, "time_ms")}
    assert not Run.objects.exists()


def test_a_row_says_itself_that_it_is_emulated(send):
    send({**ROW, "emulated": True}, ROW)
    assert list(Run.objects.order_by("line").values_list("emulated", "extra")) == [(True, {}), (False, {})]


def test_what_was_emulated_stays_so_whatever_its_rows_say(send):
    send({**ROW, "emulated": False}, emulated=True)
    assert Run.objects.get().emulated is True


@pytest.mark.parametrize("state", ["failed", "superseded", "cancelled"])
def test_what_is_no_measurement_does_not_become_one(send, state):
    answer = send({**ROW, "state": state}, {**ROW, "cores": 4, "state": "complete"})
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["line"], fault["value"]) == (400, 1, state)
    assert fault["reason"] == "is no measurement"


def test_keys_that_differ_after_a_hundred_characters_are_not_taken_for_one(send):
    answers = [send(ROW, key="k" * 100 + end) for end in ("1", "2")]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert "Idempotency-Key has 101 characters" in answers[0].json()["detail"]
    assert not Run.objects.exists()


def test_every_bad_row_is_named_and_nothing_kept(send):
    answer = send(ROW, {**ROW, "cores": 3}, {**ROW, "time_ms": -1}, {**ROW, "cores": "x"})
    assert answer.status_code == 400
    assert [error["line"] for error in answer.json()["errors"]] == [2, 3, 4]
    assert not Run.objects.exists()


def test_repeats_of_a_mode_are_kept_apart(send, resnet, orin):
    assert send(ROW, {**ROW, "time_ms": 102}).status_code == 201
    assert measured_table(workload=resnet, device_model=orin).repeats.tolist() == [2]


def test_the_same_key_answers_with_the_first_runs(send):
    first = send(ROW, key="k")
    again = send(ROW, key="k")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert Run.objects.count() == 1


def test_the_same_key_with_other_rows_is_refused(send):
    send(ROW, key="k")
    assert send({**ROW, "cores": 4}, key="k").status_code == 409


@pytest.mark.parametrize("rows", [[], [{}], [{"cores": 2}], [{"speed": 3}], ["x"], [{**ROW, "time_ms": {}}]])
def test_rows_without_a_measurement_are_refused(send, rows):
    assert send(*rows).status_code == 400


def test_a_viewer_sends_no_runs(client, vera, resnet, orin):
    client.force_login(vera)
    answer = client.post(URL, {**PAIR, "runs": [ROW]}, content_type="application/json")
    assert answer.status_code == 403


def test_sent_runs_are_undone_like_a_file(send, eng):
    upload = Upload.objects.get(pk=send(ROW).json()["upload"])
    upload_undo(upload=upload, user=eng)
    assert not Run.objects.exists()


def test_a_correction_is_a_new_run_with_who_and_why(api, run):
    answer = api.post(f"{URL}{run.pk}/corrections/", {"reason": "meter off", "changes": {"power_mw": 9000}})
    assert answer.status_code == 201, answer.content
    said = answer.json()
    assert (said["revises"], said["corrected_by"], said["correction"]) == (run.pk, "eng", "meter off")
    assert (said["power_mw"], said["energy_mj"], said["time_ms"]) == (9000, 900, 100)
    assert api.get(f"{URL}{run.pk}/").json()["state"] == "superseded"


def test_no_door_takes_a_time_whose_energy_is_infinite(api, run, send):
    """One such run would break every list, page and export that shows it."""
    answer = api.post(f"{URL}{run.pk}/corrections/", {"reason": "typo", "changes": {"time_ms": 1e308}})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "time_ms")
    answer = send(ROW | {"time_ms": 1e308})
    assert (answer.status_code, answer.json()["errors"][0]["reason"]) == (400, "is too large")
    assert Run.everything.count() == 1


def test_a_corrected_run_leaves_lists_and_fits(api, run, eng, resnet, orin):
    revision = run_correct(run=run, user=eng, reason="typo", changes={"time_ms": 50.0})
    assert list(run_list()) == [revision]
    assert measured_table(workload=resnet, device_model=orin).time_ms.tolist() == [50]
    asked = api.get(URL, {"state": "superseded"}).json()["results"]
    assert [each["id"] for each in asked] == [run.pk]


def test_a_run_is_corrected_once_its_revision_again(run, eng):
    revision = run_correct(run=run, user=eng, reason="typo", changes={"time_ms": 50.0})
    with pytest.raises(Conflict, match="corrected already"):
        run_correct(run=run, user=eng, reason="typo", changes={"time_ms": 60.0})
    second = run_correct(run=revision, user=eng, reason="again", changes={"cores": 4})
    assert (second.time_ms, second.cores, second.revises) == (50, 4, revision)
    assert second.power_mode.cores == 4


def test_a_late_delivery_does_not_bring_a_corrected_run_back(run, eng):
    run_correct(run=run, user=eng, reason="typo", changes={"time_ms": 50.0})
    assert not run_complete(run=run, measured={"time_ms": 1})


def test_a_revision_shows_the_telemetry_of_its_run(run, eng):
    telemetry_store(run=run, columns={"time_s": [0, 1], "gpu_khz": [1, 2]})
    revision = run_correct(run=run, user=eng, reason="typo", changes={"time_ms": 50.0})
    assert set(run_telemetry(run=revision)) == {"gpu_khz"}
    assert Telemetry.objects.count() == 1


def test_what_is_corrected_to_unknown_has_its_reason(run, eng):
    revision = run_correct(run=run, user=eng, reason="meter off", changes={"power_mw": None})
    assert revision.power_mw is None
    assert revision.unknowns["power_mw"] == "corrected to unknown: meter off"


@pytest.mark.parametrize(
    ("reason", "changes"),
    [
        ("", {"time_ms": 1.0}),
        ("why", {}),
        ("why", {"workload": 3}),
        ("why", {"cores": 3}),
        ("why", {"time_ms": -1.0}),
        ("why", {"time_ms": 0}),
        ("why", {"minibatch": 0}),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused(api, run, eng, reason, changes):
    with pytest.raises(InvalidInput):
        run_correct(run=run, user=eng, reason=reason, changes=changes)
    body = {"reason": reason, "changes": changes}
    assert api.post(f"{URL}{run.pk}/corrections/", body).status_code == 400
    assert Run.objects.get().state == "complete"
