import shutil
import zipfile

import numpy as np
import pandas as pd
import pytest

from profiling.formats import FileTooLarge, FormatError, Limits, detect, read

FOLDER = "pm_4_1497600_306000000_204000000"
EPOCH = "epoch,epochtime_ms,log_time\n0,5000,10\n0,400,10.4\n0,410,10.81\n0,420,11.23\n0,430,11.66\n"
FETCH = (
    "epoch,batch_idx,fetchtime_ms,log_time\n0,0,500,10\n0,1,10,10.4\n0,2,11,10.8\n0,3,12,11.2\n0,4,13,11.6\n"
)
JTOP = (
    "time,uptime,jetson_clocks,CPU1,power cur,log_time\n"
    "2026-01-02 03:04:05.0,1,ON,10,3000,9.5\n"
    "2026-01-02 03:04:05.0,1,ON,10,3000,9.5\n"
    "2026-01-02 03:04:07.0,3,ON,90,9000,11.2\n"
    "2026-01-02 03:04:07.2,3,ON,90,9200,11.5\n"
    "2026-01-02 03:04:09.0,5,ON,10,3100,13.5\n"
)
GPU = "1,log_time\n\"{'val': 0, 'frq': 305000}\",9.6\n\"{'val': 9, 'frq': 306000}\",11.3\n"
CPU = "1,2,log_time\n\"{'frq': 1497000}\",{},9.6\n\"{'frq': 1497000}\",{},11.3\n"
FILES = {
    "epoch_stats": EPOCH,
    "fetch": FETCH,
    "tegrastats": JTOP,
    "gpufreq_stats": GPU,
    "cpufreq_stats": CPU,
    "io_stats": "anything\nat,all\n",
}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "runs" / FOLDER
    path.mkdir(parents=True)
    for what, text in FILES.items():
        (path / f"net_nw4_{what}.csv").write_text(text)
    return path


@pytest.fixture
def zipped(folder, tmp_path):
    copies = [
        f"pm_{cores}_{cpu}_306000000_204000000" for cores in (2, 4) for cpu in (268800, 1497600, 2201600)
    ]
    path = tmp_path / "runs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in copies:
            for file in folder.iterdir():
                archive.write(file, f"sweep/{name}/{file.name}")
    return path


def test_a_folder_is_a_run_in_the_mode_of_its_name(folder, ranges):
    runs = read(folder, legal=ranges)
    row = runs.parsed.rows.iloc[0]
    assert (row.cores, row.cpu_khz, row.gpu_khz, row.mem_khz) == (4, 1497600, 306000, 204000)


def test_the_first_minibatch_is_left_out(folder, ranges):
    runs = read(folder, legal=ranges)
    run = runs.run_of(1)
    assert run.minibatches.time_ms.tolist() == [400, 410, 420, 430]
    assert run.minibatches.fetch_ms.tolist() == [10, 11, 12, 13]
    assert run.discarded == 1
    assert runs.parsed.rows.time_ms.tolist() == [415]
    assert any("warm-up" in note.reason for note in runs.parsed.notes)


def test_power_is_the_mean_of_fresh_samples_amid_clean_minibatches(folder, ranges):
    run = read(folder, legal=ranges).run_of(1)
    assert (run.power_mw, run.power_samples) == (9100, 2)


def test_telemetry_is_on_the_runs_clock_with_the_clocks_beside_it(folder, ranges):
    telemetry = read(folder, legal=ranges).run_of(1).telemetry.telemetry()
    assert telemetry["time_s"].tolist() == [9.5, 11.2, 11.5, 13.5]
    np.testing.assert_array_equal(telemetry["gpu_khz"], [305000, 306000, 306000, np.nan])
    assert np.isnan(telemetry["cpu1_khz"]).all()


def test_what_we_do_not_understand_is_kept(folder, ranges):
    assert read(folder, legal=ranges).run_of(1).others["io_stats"] == FILES["io_stats"]


def test_a_zip_of_many_folders_is_many_runs(zipped, ranges):
    seen = []
    runs = read(zipped, legal=ranges, progress=seen.append)
    assert detect(zipped).name == "dreamlab"
    assert (len(runs), runs.parsed.problem_count, seen) == (6, 0, [1, 2, 3, 4, 5, 6])
    assert runs.run_of(6).folder.endswith("pm_4_268800_306000000_204000000")


def test_an_illegal_mode_is_named(folder, ranges):
    shutil.copytree(folder, folder.parent / "pm_3_1497600_306000000_204000000")
    runs = read(folder.parent, legal=ranges)
    assert (len(runs), runs.parsed.problem_count) == (1, 1)
    assert runs.parsed.problems[0].column == "cores"
    told = str(runs.parsed.problems[0])
    assert told.startswith("runs/pm_3_1497600_306000000_204000000/net_nw4, file, cores")


def test_a_bad_line_is_named_with_its_file(folder, ranges):
    with (folder / "net_nw4_epoch_stats.csv").open("a") as file:
        file.write("0,x,12\n0,440\n")
    first, second = read(folder.parent, legal=ranges).parsed.problems
    assert (first.line, first.column, first.value) == (7, "epochtime_ms", "x")
    assert second[:4] == (8, "", "0,440", "has 2 fields instead of 3")
    assert first.file == second.file == f"runs/{FOLDER}/net_nw4_epoch_stats.csv"


def test_a_mode_that_two_runs_measured_is_named_by_both(folder, ranges):
    slower = EPOCH.replace("0,410", "0,510").replace("0,420", "0,520")
    shutil.copytree(folder, folder.parent / "again" / FOLDER)
    (folder.parent / "again" / FOLDER / "net_nw4_epoch_stats.csv").write_text(slower)
    problem = read(folder.parent, legal=ranges).parsed.problems[0]
    assert problem.file == f"runs/{FOLDER}/net_nw4"
    assert problem.reason.startswith(f"is the same mode as runs/again/{FOLDER}/net_nw4, with time_ms 415 ")


def test_a_run_without_times_is_a_problem_and_the_others_come_in(folder, ranges):
    bare = folder.parent / "pm_2_268800_306000000_204000000"
    bare.mkdir()
    (bare / "net_nw4_fetch.csv").write_text(FETCH)
    runs = read(folder.parent, legal=ranges)
    assert len(runs) == 1
    assert "has no net_nw4_epoch_stats.csv" in runs.parsed.problems[0].reason


def test_a_run_without_power_says_why(folder, ranges):
    (folder / "net_nw4_tegrastats.csv").unlink()
    runs = read(folder, legal=ranges)
    assert runs.parsed.rows.power_mw.isna().all()
    assert runs.run_of(1).unknown["power_mw"] == "the run has no tegrastats file"


def test_names_that_leave_the_zip_are_passed_over(zipped, ranges):
    with zipfile.ZipFile(zipped, "a") as archive:
        archive.writestr(f"../{FOLDER}/net_nw4_epoch_stats.csv", EPOCH)
    problems = read(zipped, legal=ranges).parsed.problems
    assert [problem.reason for problem in problems] == ["points outside the zip; passed over"]


def test_files_of_no_run_are_named_and_those_that_finder_adds_are_not(zipped, ranges):
    before = read(zipped, legal=ranges)
    with zipfile.ZipFile(zipped, "a") as archive:
        archive.writestr("summary.csv", "cores,time_ms\n4,5\n")
        for name in archive.namelist():
            archive.writestr(f"__MACOSX/{name.rpartition('/')[0]}/._{name.rpartition('/')[2]}", "fork")
    runs = read(zipped, legal=ranges)
    assert (len(runs), runs.parsed.problems) == (len(before), before.parsed.problems)
    assert runs.parsed.notes[0].reason == "not read, as part of no run (1): summary.csv"


def test_a_zip_bomb_is_refused(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{FOLDER}/net_epoch_stats.csv", EPOCH + "\n" * 40_000_000)
    with pytest.raises(FormatError):
        read(path)


def test_a_damaged_run_in_a_zip_is_a_problem_and_the_others_come_in(zipped, ranges):
    content = bytearray(zipped.read_bytes())
    at = content.index(b"0,5000,10")
    content[at] ^= 0xFF
    zipped.write_bytes(content)
    runs = read(zipped, legal=ranges)
    assert len(runs) == 5
    assert "is damaged" in runs.parsed.problems[0].reason


def test_a_zip_of_too_many_files_is_refused(zipped):
    with pytest.raises(FormatError):
        read(zipped, limits=Limits(files=3))


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(FormatError, match="holds no run folder"):
        detect(tmp_path)


def test_too_large_is_a_format_error():
    assert issubclass(FileTooLarge, FormatError)


def test_the_public_run_comes_in(shared_data):
    path = next((shared_data / "dreamlab/raw_run").iterdir())
    runs = read(path)
    run = runs.run_of(1)
    truth = pd.read_csv(next(path.glob("*_epoch_stats.csv"))).epochtime_ms[1:]
    power = pd.read_csv(next(path.glob("*_tegrastats.csv")))["power cur"]
    assert runs.parsed.problem_count == 0
    assert run.minibatches.time_ms.sum() == pytest.approx(truth.sum())
    assert runs.parsed.rows.gpu_khz.tolist() == [306000]
    assert 12 <= run.power_samples <= 20
    assert power.max() * 0.95 < run.power_mw < power.max()
    assert {"gpu_khz", "mem_khz", "cpu0_khz"} <= set(run.telemetry.columns)
    assert run.telemetry.repeated.sum() == 1
