from typing import Any

import pytest
from django.contrib.auth.models import User

from profiling.errors import Conflict, Forbidden, InvalidInput, TooLarge
from profiling.models import DeviceModel, Run, Upload, Workload
from profiling.receiving import incoming_folder, received
from profiling.selectors.runs import measured_table, run_list
from profiling.services import imports
from profiling.services.imports import upload_work, uploads_wake
from profiling.services.uploads import upload_choose, upload_map, upload_receive, upload_undo
from profiling.signals import runs_changed

HEADER = "cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n"
GOOD = HEADER + "2,268800,318750,665600,100,10\n6,2201600,1300500,3199000,50,30.5\n"
BAD = GOOD + "4,268800,318750,665600,nan,10\n5,268800,318750,665600,100,10\n"
UNCLEAR = GOOD.replace("time_ms", "speed").replace("power_w", "heat")


@pytest.fixture
def send(eng: User, resnet: Workload, orin: DeviceModel) -> Any:
    def send(text: str, *, name: str = "sweep.csv", **more: Any) -> tuple[Upload, bool]:
        fields = {"user": eng, "workload": resnet, "device_model": orin, **more}
        return upload_receive(file=received([text.encode()], name), **fields)

    return send


@pytest.fixture
def worked(send: Any) -> Any:
    def send_and_work(text: str, **more: Any) -> Upload:
        return work(send(text, **more)[0])

    return send_and_work


def work(upload: Upload) -> Upload:
    upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


def test_good_lines_become_runs(worked):
    upload = worked(GOOD)
    assert (upload.state, upload.rows_imported, upload.rows_done) == ("done", 2, 2)
    run = Run.objects.get(upload=upload, line=3)
    assert run.knobs == (6, 2_201_600, 1_300_500, 3_199_000)
    assert (run.time_ms, run.power_mw, run.energy_mj) == (50, 30_500, 1525)
    assert (run.state, run.minibatch, run.emulated) == ("complete", 16, False)


def test_a_run_stands_on_its_stored_mode(worked, orin):
    worked(GOOD)
    assert Run.objects.get(line=2).power_mode == orin.power_modes.get(rank=0)
    assert Run.objects.get(line=3).power_mode == orin.power_modes.get(rank=35)


def test_imported_runs_can_be_fitted(worked, resnet, orin):
    worked(GOOD)
    assert measured_table(workload=resnet, device_model=orin).power_mw.tolist() == [10_000, 30_500]


def test_an_unknown_knob_stays_null_with_its_reason(worked):
    upload = worked(GOOD + ",,1300500,,80,20\n")
    assert upload.state == "done", upload.problems
    run = Run.objects.get(line=4)
    assert (run.cores, run.gpu_khz, run.power_mode, run.knobs) == (None, 1_300_500, None, None)
    assert run.unknowns == dict.fromkeys(("cores", "cpu_khz", "mem_khz"), "empty in the file")


def test_energy_that_cannot_be_computed_is_unknown_not_zero(worked):
    worked("cores,cpu_khz,gpu_khz,mem_khz,time_ms\n2,268800,318750,665600,100\n")
    run = Run.objects.get()
    assert run.energy_mj is None
    assert run.power_mw is None
    assert {"power_mw", "energy_mj"} == set(run.unknowns)


def test_other_columns_are_kept(worked):
    worked(GOOD.replace("power_w", "power_w,note").replace("10\n", "10,warm\n").replace("30.5\n", "30.5,\n"))
    assert [run.extra for run in Run.objects.order_by("line")] == [{"note": "warm"}, {}]


def test_bad_lines_wait_for_a_choice_and_nothing_is_imported(worked):
    upload = worked(BAD)
    assert (upload.state, upload.problem_count) == ("choosing", 2)
    assert {problem["line"] for problem in upload.problems} == {4, 5}
    assert not Run.objects.exists()


def test_the_report_names_every_bad_line(worked):
    lines = worked(BAD).report.read().decode().splitlines()
    assert lines[0] == "line,column,value,reason,file"
    assert len(lines) == 3
    assert lines[2].startswith("5,cores,5,")


def test_the_report_is_safe_to_open_in_a_spreadsheet(worked):
    upload = worked(GOOD + "=1+1,268800,318750,665600,100,10\n")
    assert ",'=1+1," in upload.report.read().decode()


def test_the_good_lines_are_imported_when_chosen(worked, eng):
    upload = worked(BAD)
    work(upload_choose(upload=upload, user=eng, choice="good"))
    assert (upload.state, upload.rows_imported, Run.objects.count()) == ("done", 2, 2)


def test_nothing_is_imported_when_chosen(worked, eng):
    upload = upload_choose(upload=worked(BAD), user=eng, choice="nothing")
    assert (work(upload).state, Run.objects.count()) == ("rejected", 0)


def test_the_choice_can_be_made_beforehand(worked):
    assert worked(BAD, on_bad_lines="good").state == "done"
    assert worked(BAD + " ", on_bad_lines="nothing").state == "rejected"
    assert Run.objects.count() == 2


def test_a_file_without_a_good_line_fails_and_says_so(worked):
    upload = worked(HEADER + "2,268800,318750,665600,-1,10\n", on_bad_lines="good")
    assert upload.state == "failed"
    assert "None of the 1 lines is good" in upload.failure


def test_a_file_of_no_known_kind_fails_with_the_reason(worked):
    upload = worked("\x00\x01\x02 nothing we know")
    assert upload.state == "failed"
    assert upload.failure


def test_unclear_columns_are_asked_for(worked):
    upload = worked(UNCLEAR)
    assert upload.state == "mapping"
    assert upload.proposal["questions"]
    assert upload.proposal["preview"][0][0] == "2"


def test_the_answer_to_the_mapping_is_followed(worked, eng):
    upload = worked(UNCLEAR)
    fields = upload.proposal["mapping"]["fields"]
    fields |= {"time_ms": {"column": "speed", "unit": "ms"}, "power_mw": {"column": "heat", "unit": "W"}}
    work(upload_map(upload=upload, user=eng, mapping={"fields": fields}))
    assert upload.state == "done", upload.failure
    assert Run.objects.get(line=3).power_mw == 30_500


def test_a_mapping_of_a_column_that_is_not_there_is_refused(worked, eng):
    upload = worked(UNCLEAR)
    with pytest.raises(InvalidInput, match="no column 'nowhere'"):
        upload_map(
            upload=upload, user=eng, mapping={"fields": {"time_ms": {"column": "nowhere", "unit": "ms"}}}
        )
    upload.refresh_from_db()
    assert upload.state == "mapping"


def test_the_same_file_again_is_the_first_upload(worked, send):
    first = worked(GOOD)
    again, new = send(GOOD, name="renamed.csv")
    assert (again, new) == (first, False)
    assert work(again).rows_imported == Run.objects.count() == 2


def test_the_same_file_for_another_workload_is_another_upload(worked, send, resnet):
    worked(GOOD)
    other = Workload.objects.create(slug="other", name="Other", kind="training", network="x", minibatch=4)
    assert send(GOOD, workload=other)[1]


def test_a_key_whose_upload_was_undone_brings_the_file_in_again(send, eng):
    first, _ = send(GOOD, idempotency_key="k")
    upload_work(upload_id=first.pk)
    upload_undo(upload=first, user=eng)
    again, new = send(GOOD, idempotency_key="k")
    upload_work(upload_id=again.pk)
    assert (new, again.pk != first.pk, Run.objects.count()) == (True, True, 2)
    assert send(GOOD, idempotency_key="k") == (again, False)


def test_a_key_stands_for_one_workload_only(send, resnet):
    send(GOOD, idempotency_key="k")
    resnet.pk, resnet.slug, resnet.name = None, "other", "Other"
    resnet.save()
    with pytest.raises(Conflict, match="for another workload"):
        send(GOOD, idempotency_key="k", workload=resnet)


def test_an_idempotency_key_answers_with_its_first_upload(send):
    first, _ = send(GOOD, idempotency_key="k")
    assert send(GOOD, idempotency_key="k") == (first, False)


def test_a_key_that_comes_with_another_file_is_refused(send):
    send(GOOD, idempotency_key="k")
    with pytest.raises(Conflict, match="came with another file"):
        send(BAD, idempotency_key="k")


def test_a_repeated_file_leaves_nothing_in_the_spool(send):
    send(GOOD)
    send(GOOD)
    assert list(incoming_folder().iterdir()) == []


def test_undo_takes_every_run_away_and_the_file_may_come_again(worked, eng, resnet, orin):
    upload = worked(GOOD)
    upload_undo(upload=upload, user=eng)
    assert (upload.state, Run.objects.count(), Run.everything.count()) == ("undone", 0, 2)
    assert uploads_wake() == 0
    assert Run.everything.count() == 0
    assert upload.file.size == len(GOOD)
    assert worked(GOOD).pk != upload.pk
    assert Run.objects.count() == 2


def test_only_its_uploader_or_an_administrator_undoes_an_upload(worked, vera, ada):
    upload = worked(GOOD)
    with pytest.raises(Forbidden):
        upload_undo(upload=upload, user=vera)
    assert upload_undo(upload=upload, user=ada).state == "undone"


def test_a_step_out_of_turn_is_refused_with_the_present_state(send, eng):
    upload, _ = send(GOOD)
    with pytest.raises(Conflict, match="is received"):
        upload_undo(upload=upload, user=eng)


def test_listeners_hear_of_runs_added_and_taken_away(worked, eng, django_capture_on_commit_callbacks):
    heard = []
    listener = lambda sender, workload_id, device_model_id, **_: heard.append((workload_id, device_model_id))  # noqa: E731
    runs_changed.connect(listener)
    with django_capture_on_commit_callbacks(execute=True):
        upload = worked(GOOD)
        upload_undo(upload=upload, user=eng)
    runs_changed.disconnect(listener)
    assert heard == [(upload.workload_id, upload.device_model_id)] * 2


def test_a_second_message_changes_nothing(worked):
    assert work(worked(GOOD)).rows_imported == Run.objects.count() == 2


def test_a_message_for_an_upload_somebody_works_on_is_ignored(send, monkeypatch):
    upload, _ = send(GOOD)
    monkeypatch.setattr(imports, "upload_read", lambda upload, besides: upload_work(upload_id=upload.pk))
    upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    assert (upload.state, Run.objects.count()) == ("received", 0)


def test_a_worker_that_breaks_off_leaves_no_run(send, monkeypatch):
    upload, _ = send(GOOD)

    def out_of_disk(upload, count):
        raise OSError("no space left")

    monkeypatch.setattr(imports, "_publish", out_of_disk)
    with pytest.raises(OSError, match="no space"):
        upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    assert (upload.state, Run.objects.count()) == ("failed", 0)


@pytest.mark.parametrize("until", ["2020-01-01T00:00Z", "2120-01-01T00:00Z"])
def test_a_killed_worker_is_followed_by_another_whatever_the_clock(send, resnet, orin, until):
    upload, _ = send(GOOD)
    Upload.objects.update(state="importing", hidden=True, worked_until=until)
    Run.objects.create(upload=upload, workload=resnet, device_model=orin, minibatch=16)
    assert uploads_wake() == 1
    assert work(upload).state == "done"
    assert Run.objects.count() == 2


def test_runs_show_only_when_the_whole_file_is_in(send, resnet, orin):
    upload, _ = send(GOOD)
    Run.objects.create(upload=upload, workload=resnet, device_model=orin, minibatch=16)
    Upload.objects.update(hidden=True)
    assert not run_list().exists()
    assert not resnet.runs.exists()


def test_an_emulated_board_marks_its_runs(worked, board):
    assert worked(GOOD, device=board).emulated
    assert Run.objects.filter(emulated=True, device=board).count() == 2


def test_a_file_over_the_limit_is_refused_and_not_kept(send, settings):
    settings.UPLOAD_MAX_BYTES = 20
    with pytest.raises(TooLarge):
        send(GOOD)
    assert not Upload.objects.exists()


@pytest.mark.parametrize(("text", "more"), [("", {}), (GOOD, {"on_bad_lines": "perhaps"})])
def test_what_cannot_be_meant_is_refused(send, text, more):
    with pytest.raises(InvalidInput):
        send(text, **more)
