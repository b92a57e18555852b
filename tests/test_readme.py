"""What the README tells people to type, typed."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.site_process import ROOT, Site


def block_to_type(language: str) -> str:
    pattern = rf"<!-- tested -->\n```{language}\n(.*?)```"
    (block,) = re.findall(pattern, (ROOT / "README.md").read_text(), re.DOTALL)
    return block


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path, device_model="agx-orin")
    site.start_web()
    site.start_worker()
    yield site
    site.close()


def test_the_programs_way_works_as_written(site, tmp_path):
    typed = ["bash", "-eu", "-o", "pipefail", "-c", block_to_type("bash")]
    assert '"feasible":true' in printed(typed, site, tmp_path)
    assert len(site.api("GET", "runs/?workload=mobilenet-v3-gld-23k")["results"]) == 8

    said = printed([sys.executable, "-c", block_to_type("python")], site, tmp_path)
    assert said.startswith("8 runs, 18,096 modes, {'cores':"), said
    assert len(pd.read_parquet(tmp_path / "runs.parquet")) == 8


def printed(command: list[str], site: Site, folder: Path) -> str:
    env = {**site.env, "SITE": site.url, "TOKEN": site.tokens["person"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["timeout", "120", *command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr}\n{site.logs()}"
    return done.stdout
