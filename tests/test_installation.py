"""The site as people install it: real commands in a folder of their own, on every supported server."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import environ
import pytest
from django.core.exceptions import ImproperlyConfigured

from jetsonlab.env import count, matching, time_zone
from tests.servers import postgres_server

ROOT = Path(__file__).parent.parent


def manage(*words: str, data: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return python("manage.py", *words, data=data, **env)


def python(*words: str, data: Path, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "BROKER_URL", "SECRET_KEY")
    }
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**clean, "JETSONLAB_DATA": str(data), **env},
        capture_output=True,
        text=True,
    )


def test_prepare_makes_a_working_site_out_of_an_empty_folder(tmp_path):
    done = manage("prepare", data=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "29,232 power modes" in done.stdout
    assert "http://127.0.0.1:8000" in done.stdout
    assert (tmp_path / "static" / "plotly" / "plotly.min.js").exists()


def test_the_same_on_postgresql(tmp_path_factory):
    folder = tmp_path_factory.mktemp("postgres")
    with postgres_server(folder) as url:
        done = manage("seed_catalog", data=folder / "site", DATABASE_URL=url)
        assert done.returncode != 0, "an empty database has no tables"
        manage("migrate", data=folder / "site", DATABASE_URL=url)
        done = manage("seed_catalog", data=folder / "site", DATABASE_URL=url)
        bench = ("-m", "bench.imports", "--lines", "300", "--json")
        imported = python(*bench, data=folder / "site", DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    assert "29,232 power modes" in done.stdout
    assert json.loads(imported.stdout)["rows"] == 300, imported.stderr


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("DEBUG", "maybe", "DEBUG must be one of 1, true, yes"),
        ("DATABASE_URL", "mysql://x", "DATABASE_URL must start with postgresql:// or sqlite:///"),
        ("BROKER_URL", "amqp://x", "BROKER_URL must start with redis:// or be filesystem://"),
        ("UPLOAD_MAX_MB", "lots", "UPLOAD_MAX_MB must be a whole number"),
        ("SECRET_KEY", "short", "SECRET_KEY must have at least 50 characters"),
    ],
)
def test_a_bad_setting_is_refused_by_name(tmp_path, name, value, words):
    done = manage("check", data=tmp_path, **{name: value})
    assert done.returncode != 0
    assert words in done.stderr


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (partial(count, default=1), "-3"),
        (partial(count, default=1, least=1), "0"),
        (partial(count, default=1), "²"),
        (partial(time_zone, default="UTC"), "Mars"),
        (partial(time_zone, default="UTC"), "../../etc"),
        (partial(matching, pattern="[0-9]+/min", default="1/min", such_as="like 20/min"), "often"),
    ],
)
def test_what_would_be_found_wrong_only_when_needed_is_refused_at_start(monkeypatch, read, value):
    monkeypatch.setenv("NAME", value)
    with pytest.raises(ImproperlyConfigured, match=f"NAME must be .*, not {re.escape(repr(value))}"):
        read(environ.Env(), "NAME")
    monkeypatch.delenv("NAME")
    assert read(environ.Env(), "NAME")


def test_the_secret_key_is_made_once_and_private(tmp_path):
    manage("check", data=tmp_path)
    kept = tmp_path / "secret_key"
    first = kept.read_text()
    manage("check", data=tmp_path)
    assert kept.read_text() == first
    assert kept.stat().st_mode & 0o077 == 0
