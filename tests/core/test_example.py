import subprocess
import sys

from tests.site_process import ROOT


def test_the_example_of_the_core_runs_without_django():
    code = "import sys, docs.example; docs.example.main([]); assert 'django' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "emulated: 4,368 modes, 10 measured" in done.stdout
    assert "chance to keep the limit" in done.stdout
