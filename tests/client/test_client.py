"""The client against the real site; only the wire between them is short."""

import json
import stat
import tomllib
from pathlib import Path

import httpx
import pandas as pd
import pytest

import profiling.client
from jetsonlab.wsgi import application
from profiling.client import Lab, LabAway, LabRefused
from profiling.client.cli import main
from profiling.client.keys import find_key, keep_key
from profiling.client.wire import in_words
from profiling.errors import InvalidInput
from profiling.models import ApiToken, Run, Upload
from profiling.services.imports import upload_work

pytestmark = pytest.mark.django_db(transaction=True)

SERVER = "http://127.0.0.1"
PAIR = {"workload": "resnet", "device_model": "orin-mini"}
ROW = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}
ROW |= {"time_ms": 100, "power_mw": 10_000}
GOOD = "cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n2,268800,318750,665600,100,10\n"


class Line(httpx.WSGITransport):
    """The wire: the first `cut` requests get nowhere, the next `busy` a 503. The next pieces of a transfer
    break off after so many bytes: the site sees a body that ends too early, the client no answer."""

    cut, busy, asked = 0, 0, 0
    dies_after: list[int] = []  # noqa: RUF012 (set by tests)

    def handle_request(self, request):
        self.asked += 1
        if self.cut:
            self.cut -= 1
            raise httpx.ConnectError("cut", request=request)
        if self.busy:
            self.busy -= 1
            return httpx.Response(503, headers={"Retry-After": "7"}, request=request)
        if request.method == "PATCH" and self.dies_after:
            piece = request.read()[: self.dies_after.pop(0)]
            half = httpx.Request("PATCH", request.url, headers=request.headers, content=piece)
            half.headers["Content-Length"] = request.headers["Content-Length"]
            super().handle_request(half)
            raise httpx.ReadError("broken off", request=request)
        return super().handle_request(request)


@pytest.fixture
def line():
    return Line(app=application)


@pytest.fixture
def slept():
    return []


@pytest.fixture
def lab(eng, orin, resnet, line, slept, monkeypatch, tmp_path):
    text = ApiToken.new_text()
    ApiToken.objects.create(
        user=eng,
        name="c",
        prefix=text[:8],
        digest=ApiToken.digest_of(text),
        scopes=["read", "upload", "plan"],
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("profiling.services.uploads.wake_worker", lambda *_: None)

    def sleep(seconds):
        """While the client waits, a worker works."""
        slept.append(seconds)
        for upload in Upload.objects.filter(state="received"):
            upload_work(upload_id=upload.pk)

    return Lab(SERVER, text, transport=line, sleep=sleep)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "sweep.csv"
    path.write_text(GOOD)
    return path


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


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            httpx.Response(200, html="<h1>Welcome to the hotel</h1>"),
            "is no jetsonlab: it answers with text/html",
        ),
        (httpx.Response(301, headers={"Location": "https://lab/api/"}), "leads to https://lab/api/"),
        (httpx.Response(502, html="bad gateway"), "answers 502"),
    ],
)
def test_what_is_no_lab_is_told_in_words(answer, says, capsys):
    lab = Lab(SERVER, "jl_x", transport=httpx.MockTransport(lambda _: answer), sleep=lambda _: None)
    assert main(["runs"], lab) == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("token", ["jl_é", "jl_a\nb"])
def test_what_is_no_token_is_not_sent(monkeypatch, tmp_path, token, capsys):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["login", SERVER, "--token", token]) == 1
    assert "token" in capsys.readouterr().err


def test_a_login_that_nobody_types_is_told_in_words(monkeypatch, capsys):
    def nobody(_):
        raise EOFError

    monkeypatch.setattr("getpass.getpass", nobody)
    assert main(["login", SERVER]) == 1
    assert "--token" in capsys.readouterr().err


def test_a_number_that_json_does_not_know_is_told_in_words(lab, capsys):
    assert main(["plan", "resnet", "orin-mini", "--power-mw", "nan"], lab) == 1
    assert "JSON" in capsys.readouterr().err


def test_faults_are_told_in_words(lab, capsys):
    assert main(["runs", "cores=many"], lab) == 1
    assert "cores: Enter a number." in capsys.readouterr().err
    assert in_words([{"line": 2, "column": "cores", "value": "x", "reason": "is no number"}]) == (
        "line 2 cores = 'x' is no number"
    )


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


@pytest.mark.parametrize("name", ["runs.csv", "runs.json", "runs.parquet"])
def test_runs_are_exported_by_the_files_ending(lab, tmp_path, name):
    lab.send_runs([ROW, {**ROW, "cores": 4}], **PAIR)
    assert main(["export", str(tmp_path / name), "cores=4"], lab) == 0
    read = {
        "csv": pd.read_csv,
        "parquet": pd.read_parquet,
        "json": lambda p: json.loads(p.read_text())["runs"],
    }
    assert len(read[name.split(".")[1]](tmp_path / name)) == 1


def test_a_refused_export_leaves_no_file(lab, tmp_path):
    with pytest.raises(LabRefused):
        lab.export(tmp_path / "runs.csv", speling=1)
    assert not list(tmp_path.glob("runs*"))


def test_the_command_uploads_and_lists(lab, path, capsys):
    words = ["upload", str(path), "--workload", "resnet", "--device-model", "orin-mini"]
    assert main(words, lab) == 0
    assert "done, 1 imported, 0 bad lines" in capsys.readouterr().out
    assert main(["runs", "workload=resnet", "--json"], lab) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == Run.objects.get().pk


def test_the_command_says_when_it_is_not_decided_what_is_imported(lab, tmp_path, capsys):
    path = tmp_path / "bad.csv"
    path.write_text(GOOD + "5,268800,318750,665600,100,10\n")
    assert main(["upload", str(path), "--workload", "resnet", "--device-model", "orin-mini"], lab) == 1
    told = capsys.readouterr()
    assert "choosing, not decided yet what is imported, 1 bad lines" in told.out
    assert "  line 3 cores is none of the steps" in told.out
    assert f"{SERVER}/uploads/{Upload.objects.get().pk}/" in told.err.replace("\n", "")


def test_the_command_tells_what_is_asked(lab, tmp_path, capsys):
    path = tmp_path / "seconds.csv"
    path.write_text(GOOD.replace(",100,", ",0.1,"))
    assert main(["upload", str(path), "--workload", "resnet", "--device-model", "orin-mini"], lab) == 1
    assert "  Is 'time_ms' the time per minibatch in s?" in capsys.readouterr().out


def test_a_folder_of_runs_is_sent_as_a_zip_that_is_known_again(lab, tmp_path):
    folder = tmp_path / "pm_2_268800_318750000_665600000"
    folder.mkdir()
    epochs = "".join(f"0,100,{step}\n" for step in range(9))
    (folder / "net_epoch_stats.csv").write_text(f"epoch,epochtime_ms,log_time\n{epochs}")
    first = lab.upload(folder, **PAIR)
    assert (first.filename, lab.wait(first).rows_imported) == (f"{folder.name}.zip", 1)
    (folder / "net_epoch_stats.csv").touch()
    assert lab.upload(folder, **PAIR).id == first.id


def test_a_file_that_is_not_there_keeps_no_other_from_coming_in(lab, path, capsys):
    words = ["upload", "missing.csv", str(path), "--workload", "resnet", "--device-model", "orin-mini"]
    assert main(words, lab) == 1
    told = capsys.readouterr()
    assert "1 imported" in told.out
    assert "missing.csv: No such file or directory" in told.err


@pytest.mark.parametrize("name", ["runs.xlsx", "no/such/folder/runs.csv"])
def test_an_export_that_cannot_be_written_is_told_in_words(lab, tmp_path, capsys, name):
    assert main(["export", str(tmp_path / name)], lab) == 1
    assert name.split("/")[-1] in capsys.readouterr().err.replace("\n", "")


def test_a_plan_that_cannot_be_made_is_told_in_words(lab, capsys):
    assert main(["plan", "resnet", "orin-mini", "--power-mw", "20000"], lab) == 1
    assert "predictor" in capsys.readouterr().err


def test_a_login_is_kept_for_its_owner_alone(lab, capsys):
    options = ["login", SERVER, "--token", "jl_x"]
    assert main(options, lab) == 0
    assert find_key() == (SERVER, "jl_x")
    assert stat.S_IMODE(keep_key(SERVER, "jl_y").stat().st_mode) == 0o600


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
