"""The client against the real site."""

import json
import tomllib
from pathlib import Path

import pytest

import profiling.client
from profiling.client import Lab, LabAway, LabRefused
from profiling.client.cli import main
from profiling.client.keys import find_key, keep_key
from profiling.errors import InvalidInput
from profiling.models import Run, Upload
from tests.client.conftest import GOOD, PAIR, ROW, SERVER

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_file_is_sent_and_waited_for_with_progress(lab, path):
    told = []
    sent = lab.upload(path, **PAIR, progress=lambda done, total: told.append((done, total)))
    done = lab.wait(sent)
    assert (done.state, done.rows_imported, done.filename) == ("done", 1, "sweep.csv")
    assert told[-1] == (len(GOOD), len(GOOD))


def test_a_file_sent_twice_is_one_upload(lab, path):
    assert lab.upload(path, **PAIR).id == lab.upload(path, **PAIR).id


@pytest.fixture
def in_pieces(monkeypatch):
    monkeypatch.setattr("profiling.client.lab.IN_PIECES_FROM", 1)
    monkeypatch.setattr("profiling.client.lab.SENT_AT_ONCE", 20)


def test_a_large_file_goes_in_pieces(lab, path, in_pieces):
    seen = []
    upload = lab.wait(lab.upload(path, **PAIR, progress=lambda done, total: seen.append((done, total))))
    assert (upload.state, Run.objects.count()) == ("done", 1)
    assert seen[0] == (20, len(GOOD))
    assert seen[-1] == (len(GOOD), len(GOOD))


def test_a_connection_that_dies_in_a_piece_is_gone_on_from_what_arrived(lab, path, line, in_pieces, slept):
    line.dies_after = [7, 0, 13]
    assert lab.wait(lab.upload(path, **PAIR)).state == "done"
    assert line.dies_after == []
    assert Upload.objects.get().file.read() == GOOD.encode()


def test_a_new_start_of_the_program_goes_on_with_the_transfer(lab, path, line, in_pieces):
    line.dies_after = [5] + [0] * 5
    with pytest.raises(LabAway, match="stays at byte 5"):
        lab.upload(path, **PAIR)
    asked = line.asked
    assert lab.wait(lab.upload(path, **PAIR)).state == "done"
    assert line.asked - asked < 10


def test_rows_are_sent_and_read_back_typed(lab):
    [pk] = lab.send_runs([ROW], **PAIR)
    [run] = lab.runs(workload="resnet", power_mw__lte=10_000)
    assert (run.id, run.cores, run.time_ms, run.flags) == (pk, 2, 100, [])
    assert run.raw["energy_mj"] == 1000
    assert lab.count(workload="resnet") == 1


def test_every_bad_row_reaches_the_caller(lab):
    with pytest.raises(LabRefused, match="2 faults in 3 rows") as refused:
        lab.send_runs([{**ROW, "cores": 3}, ROW, {**ROW, "time_ms": -1}], **PAIR)
    assert [each["line"] for each in refused.value.extra["errors"]] == [1, 3]


def test_lists_are_read_page_by_page(lab):
    lab.send_runs([{**ROW, "time_ms": n} for n in range(1, 6)], **PAIR)
    assert [run.time_ms for run in lab.runs(page_size=2)] == [5, 4, 3, 2, 1]


def test_several_values_of_a_filter_go_with_every_page(lab, capsys):
    lab.send_runs([{**ROW, "cores": cores} for cores in (2, 4, 6)], **PAIR)
    Run.objects.filter(cores=2).update(flags=["hot"])
    Run.objects.filter(cores=4).update(flags=["short"])
    either = {"flag": ["hot", "short"], "emulated": [True, False]}
    assert [run.cores for run in lab.runs(page_size=1, **either)] == [4, 2]
    assert lab.count(**either) == 2
    assert main(["runs", "flag=hot", "flag=short", "--json"], lab) == 0
    assert [run["cores"] for run in json.loads(capsys.readouterr().out)] == [4, 2]


def test_a_busy_or_absent_lab_is_asked_again(lab, line, slept):
    line.cut, line.busy = 1, 2
    lab.check()
    assert slept == [0.5, 7, 7]


def test_a_lab_that_stays_away_is_named(lab, line):
    line.cut = 99
    with pytest.raises(LabAway, match="does not answer"):
        lab.check()
    assert line.asked == 6


def test_a_busy_lab_is_asked_again_for_an_export_too(lab, line, slept, tmp_path):
    line.cut, line.busy = 1, 1
    assert lab.export(tmp_path / "runs.csv") > 0
    assert slept == [0.5, 7]


def test_a_full_disk_keeps_the_old_login(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = keep_key(SERVER, "jl_old")
    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OSError, match="No space"):
        keep_key(SERVER, "jl_new")
    assert json.loads(path.read_bytes())["token"] == "jl_old"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def full_disk(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_refusal_is_not_asked_again(lab, line):
    with pytest.raises(LabRefused, match="No such filter"):
        list(lab.runs(speling=1))
    assert line.asked == 1


def test_a_refused_export_leaves_no_file(lab, tmp_path):
    with pytest.raises(LabRefused):
        lab.export(tmp_path / "runs.csv", speling=1)
    assert not list(tmp_path.glob("runs*"))


def test_a_folder_of_runs_is_sent_as_a_zip_that_is_known_again(lab, tmp_path):
    folder = tmp_path / "pm_2_268800_318750000_665600000"
    folder.mkdir()
    epochs = "".join(f"0,100,{step}\n" for step in range(9))
    (folder / "net_epoch_stats.csv").write_text(f"epoch,epochtime_ms,log_time\n{epochs}")
    first = lab.upload(folder, **PAIR)
    assert (first.filename, lab.wait(first).rows_imported) == (f"{folder.name}.zip", 1)
    (folder / "net_epoch_stats.csv").touch()
    assert lab.upload(folder, **PAIR).id == first.id


@pytest.mark.parametrize(
    ("server", "says"),
    [(None, "Which lab"), ("lab", "looks like"), ("http://lab:port", "looks like"), (SERVER, "No token")],
)
def test_what_is_missing_is_said(monkeypatch, tmp_path, server, says):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("JETSONLAB_SERVER", "JETSONLAB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidInput, match=says):
        Lab(server)


def test_another_labs_token_is_never_sent(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("JETSONLAB_TOKEN", raising=False)
    keep_key("https://ours.example", "jl_ours")
    with pytest.raises(InvalidInput, match="No token"):
        find_key("https://theirs.example")


def test_who_installs_the_client_gets_its_types():
    """Without the marker, in the package and in what is installed of it, mypy takes all for Any."""
    root = Path(profiling.__file__).parent
    assert (root / "py.typed").exists()
    installed = tomllib.loads((root.parent / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "py.typed" in installed["package-data"]["*"]


def test_the_example_in_the_package_works_as_written(lab, path, monkeypatch):
    """All but the plan, for which this lab has no predictor yet, and says so."""
    example = profiling.client.__doc__.partition("\n\n")[2].replace("agx-orin", "orin-mini")
    *steps, plan = example.strip().splitlines()
    monkeypatch.chdir(path.parent)
    names = {"Lab": lambda address: lab}
    exec("\n".join(steps), names)
    assert Upload.objects.get().filename == "sweep.csv"
    with pytest.raises(LabRefused, match="predictor"):
        exec(plan, names)
