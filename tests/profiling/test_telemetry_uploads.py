"""Run folders and logs as uploads: what becomes a run, what becomes telemetry."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from profiling.errors import Conflict, InvalidInput
from profiling.models import Run, Telemetry, Upload
from profiling.receiving import received
from profiling.selectors.telemetry import run_telemetry
from profiling.services.imports import upload_work
from profiling.services.uploads import upload_map, upload_receive, upload_undo

FOLDER = "pm_4_1190400_318750000_665600000"
EPOCHS = "epoch,epochtime_ms,log_time\n0,5000,10\n" + "".join(
    f"0,{400 + 10 * (step % 3)}.125,{10 + 0.41 * (step + 1):.3f}\n" for step in range(50)
)
JTOP = "time,uptime,jetson_clocks,CPU1,power cur,log_time\n" + "".join(
    f"2026-01-02 03:04:{step:02}.0,{step},ON,10,{8000 + 10 * step},{10 + step}.5\n" for step in range(20)
)
GPU = "1,log_time\n" + "".join(f"\"{{'frq': 318750}}\",{10 + step}.5\n" for step in range(20))
SLOW_GPU = GPU.replace("318750", "204000")
TIMED = "".join(
    f"01-02-2026 03:04:{step:02} RAM 2000/8000MB (lfb 1x4MB) CPU [1%@1190] GR3D_FREQ 5% cpu@40C "
    f"VDD_IN {5000 + 100 * step}mW/5000mW\n"
    for step in range(12)
)


def folders(**changed: str) -> bytes:
    files = {"epoch_stats": EPOCHS, "tegrastats": JTOP, "gpufreq_stats": GPU, "io_stats": "any\nthing\n"}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for what, text in {**files, **changed}.items():
            archive.writestr(f"sweep/{FOLDER}/net_nw4_{what}.csv", text)
    return out.getvalue()


def without_times(text: str) -> str:
    return "".join(line.split(" ", 2)[2] + "\n" for line in text.splitlines())


@pytest.fixture
def worked(eng, resnet, orin) -> Any:
    def send_and_work(content: bytes | str, name: str, **more: Any) -> Upload:
        data = content.encode() if isinstance(content, str) else content
        about = {"user": eng, "workload": resnet, "device_model": orin, **more}
        upload, _ = upload_receive(file=received([data], name), **about)
        return work(upload)

    return send_and_work


def work(upload: Upload) -> Upload:
    upload_work(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def measured(resnet, orin) -> Run:
    knobs = dict(
        zip(("cores", "cpu_khz", "gpu_khz", "mem_khz"), (4, 1_190_400, 318_750, 665_600), strict=True)
    )
    return Run.objects.create(workload=resnet, device_model=orin, minibatch=16, time_ms=100, **knobs)


def test_a_zip_of_run_folders_becomes_runs(worked):
    upload = worked(folders(), "sweep.zip")
    assert (upload.state, upload.failure, upload.problems) == ("done", "", [])
    run = Run.objects.get()
    assert run.knobs == (4, 1_190_400, 318_750, 665_600)
    assert run.time_ms == pytest.approx(410.125)
    assert (run.minibatches, run.power_samples, run.flags) == (50, 19, [])
    assert run.extra["folder"].endswith(FOLDER)
    assert run.extra["io_stats"] == "any\nthing\n"


def test_a_run_folder_brings_its_telemetry_and_minibatches_on_one_clock(worked):
    worked(folders(), "sweep.zip")
    channels = run_telemetry(run=Run.objects.get())
    time_s, power_mw = channels["power_total_mw"]
    assert (time_s[0], power_mw[0]) == (10.5, 8000)
    ends_s, times_ms = channels["minibatch_ms"]
    assert len(times_ms) == 50
    assert times_ms[:3] == pytest.approx([400.125, 410.125, 420.125])
    assert ends_s[0] == pytest.approx(10.41)


def test_the_first_minibatch_is_noted_as_discarded(worked):
    notes = worked(folders(), "sweep.zip").notes
    assert any("first minibatch of each run is a warm-up" in note["reason"] for note in notes)


def test_the_report_names_file_and_line_of_a_zip(worked):
    upload = worked(folders(epoch_stats=EPOCHS + "0,x,40\n"), "sweep.zip")
    header, first = upload.report.read().decode().splitlines()
    assert header == "line,column,value,reason,file"
    assert first.startswith("53,epochtime_ms,x,")
    assert first.endswith(f",sweep/{FOLDER}/net_nw4_epoch_stats.csv")


def test_notes_beyond_those_kept_are_counted(worked):
    copies = "".join(",".join(["4", "1190400", "318750", "665600", "5", "9"]) + "\n" for _ in range(105))
    notes = worked("cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n" + copies, "a.csv").notes
    assert (len(notes), notes[-1]["reason"]) == (101, "and 4 more")


@pytest.mark.parametrize(
    ("changed", "flag"),
    [
        ({"gpufreq_stats": SLOW_GPU}, "throttled"),
        ({"epoch_stats": EPOCHS[:600]}, "short"),
        ({"tegrastats": JTOP[:350]}, "few_power_samples"),
    ],
)
def test_run_folders_are_flagged_by_the_agents_rules(worked, changed, flag):
    worked(folders(**changed), "sweep.zip", on_bad_lines="good")
    run = Run.objects.get()
    assert flag in run.flags
    assert run.extra["why"][flag]


def test_the_public_run_folder_comes_in_whole(worked, shared_data: Path):
    folder = next((shared_data / "dreamlab" / "raw_run").iterdir())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"{folder.name}/{path.name}")
    orin_mini = Run._meta.get_field("device_model").related_model.objects.get()
    orin_mini.cpu_khz, orin_mini.gpu_khz = [1_497_600], [306_000]
    orin_mini.save()
    upload = worked(out.getvalue(), "raw.zip")
    assert upload.state == "done", (upload.failure, upload.problems)
    run = Run.objects.get()
    assert (run.minibatches, run.power_samples) == (50, 17)
    assert sum(chunk.rows for chunk in run.telemetry.all()) == 27 + 50


def test_a_log_alone_becomes_a_run_of_which_only_the_power_is_known(worked):
    upload = worked(TIMED, "tegrastats.txt")
    assert (upload.state, upload.failure) == ("done", "")
    run = Run.objects.get()
    assert run.power_mw == pytest.approx(np.mean([5000 + 100 * step for step in range(1, 12)]))
    assert (run.time_ms, run.knobs, run.energy_mj) == (None, None, None)
    assert run.unknowns["time_ms"].startswith("a telemetry log does not say")
    assert run.provenance["power_mw"] == "VDD_IN"
    assert run.telemetry.get().rows == 12


def test_a_log_of_other_rails_leaves_the_power_unknown_with_the_reason(worked, orin):
    orin.total_rails = ["VDD_IN", "VDD_FAN"]
    orin.save()
    worked(TIMED, "tegrastats.txt", on_bad_lines="good")
    run = Run.objects.get()
    assert run.power_mw is None
    told = "the board's total is VDD_IN + VDD_FAN, and the log tells of VDD_IN"
    assert run.unknowns["power_mw"] == told


@pytest.mark.parametrize("attach", [False, True])
def test_the_log_of_another_board_is_asked_about(worked, measured, attach):
    other = TIMED.replace("VDD_IN", "POM_5V_IN").replace("[1%@1190]", f"[{','.join(['1%@1190'] * 16)}]")
    upload = worked(other, "tegrastats.txt", run=measured if attach else None)
    assert (upload.state, upload.problem_count, Telemetry.objects.count()) == ("choosing", 2, 0)
    rails, cores = (problem["reason"] for problem in upload.problems)
    assert rails == "the log's rails are POM_5V_IN; Orin Mini has VDD_IN. Was it taken on another board?"
    assert cores == "the log tells of 16 CPU cores; Orin Mini has 6. Was it taken on another board?"


def test_the_page_asks_about_the_log_of_another_board(worked, browser):
    upload = worked(TIMED.replace("VDD_IN", "POM_5V_IN"), "tegrastats.txt")
    page = browser.get(f"/uploads/{upload.pk}/").content.decode()
    assert "This file needs a decision" in page
    assert "rails are POM_5V_IN; Orin Mini has VDD_IN. Was it taken on another board?" in page


def test_a_rail_that_the_board_does_not_have_is_noted(worked):
    upload = worked(TIMED.replace("VDD_IN", "VDD_FAN 1mW/1mW VDD_IN"), "tegrastats.txt")
    assert upload.state == "done"
    assert "has no VDD_FAN, which the log tells of; it has VDD_IN" in upload.notes[0]["reason"]


def test_a_log_without_power_is_noted(worked):
    upload = worked(TIMED.replace("VDD_IN", "NC"), "tegrastats.txt")
    assert (upload.state, upload.notes[0]["reason"]) == (
        "done",
        "the log tells no power, so the run's power is unknown",
    )


def test_a_log_without_times_is_asked_for_its_interval(worked, eng):
    upload = worked(without_times(TIMED), "tegrastats.txt")
    assert (upload.state, upload.proposal["asks"]) == ("mapping", "interval_s")
    work(upload_map(upload=upload, user=eng, mapping={"interval_s": 0.5}))
    assert upload.state == "done", upload.failure
    assert Telemetry.objects.get().end_s == 5.5


@pytest.mark.parametrize("interval", [0, -1, None, "1", float("nan"), 1e9])
def test_an_interval_that_is_none_is_refused(worked, eng, interval):
    upload = worked(without_times(TIMED), "tegrastats.txt")
    with pytest.raises(InvalidInput, match="interval_s"):
        upload_map(upload=upload, user=eng, mapping={"interval_s": interval})


def test_a_log_is_added_to_the_run_one_names_and_taken_away_again(worked, eng, measured):
    upload = worked(TIMED, "tegrastats.txt", run=measured)
    assert (upload.state, upload.rows_imported, Run.objects.count()) == ("done", 12, 1)
    assert set(run_telemetry(run=measured)) >= {"power_vdd_in_mw", "cpu0_khz"}
    upload_undo(upload=upload, user=eng)
    assert (Run.objects.count(), Telemetry.objects.count()) == (1, 0)


def test_a_run_has_one_log_only(worked, measured):
    worked(TIMED, "tegrastats.txt", run=measured)
    second = worked(TIMED + "\n", "again.txt", run=measured)
    assert second.state == "failed"
    assert "has telemetry already" in second.failure


def test_a_table_cannot_be_added_to_a_run(worked, measured):
    upload = worked(folders(), "sweep.zip", run=measured)
    assert "no telemetry log" in upload.failure


def test_the_log_of_one_run_is_not_taken_for_anothers(worked, measured):
    worked(TIMED, "tegrastats.txt")
    with pytest.raises(Conflict, match="came before"):
        worked(TIMED, "tegrastats.txt", run=measured)


def test_a_file_whose_run_has_a_log_is_not_undone(worked, eng):
    upload = worked(folders(tegrastats="x"), "sweep.zip", on_bad_lines="good")
    Telemetry.objects.all().delete()
    worked(TIMED, "tegrastats.txt", run=Run.objects.get())
    with pytest.raises(Conflict, match="Undo it first"):
        upload_undo(upload=upload, user=eng)


def test_the_api_takes_a_log_for_a_run(api, measured):
    answer = api.post(f"/api/v1/uploads/?filename=t.txt&run={measured.pk}", TIMED, content_type="text/plain")
    assert answer.status_code == 201, answer.content
    assert answer.json()["run"] == measured.pk
    assert answer.json()["workload"] == "resnet"


def test_the_page_asks_for_the_interval(worked, browser):
    upload = worked(without_times(TIMED), "tegrastats.txt")
    assert b'name="interval_s"' in browser.get(f"/uploads/{upload.pk}/").content
    answer = browser.post(f"/uploads/{upload.pk}/columns/", {"interval_s": "1"})
    assert answer.status_code == 302
    assert work(upload).state == "done"
