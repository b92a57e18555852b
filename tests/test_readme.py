"""What the README tells people to type, typed."""

import re
import subprocess

import pytest

from tests.site_process import ROOT, Site


def blocks_to_type() -> list[str]:
    return re.findall(r"<!-- tested -->\n```bash\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path, device_model="agx-orin")
    site.start_web()
    site.start_worker()
    yield site
    site.close()


def test_the_programs_way_works_as_written(site, tmp_path):
    (script,) = blocks_to_type()
    env = {**site.env, "SITE": site.url, "TOKEN": site.tokens["person"]}
    done = subprocess.run(
        ["timeout", "120", "bash", "-eu", "-o", "pipefail", "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr}\n{site.logs()}"
    assert '"feasible":true' in done.stdout
    assert len(site.api("GET", "runs/?workload=mobilenet-v3-gld-23k")["results"]) == 8
