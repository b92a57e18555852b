"""The command `jetsonlab`, against the real site."""

import json
import stat

import httpx
import pandas as pd
import pytest

from profiling.client import Lab
from profiling.client.cli import main
from profiling.client.keys import find_key, keep_key
from profiling.client.wire import in_words
from profiling.models import Run, Upload
from tests.client.conftest import GOOD, PAIR, ROW, SERVER

pytestmark = pytest.mark.django_db(transaction=True)


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
