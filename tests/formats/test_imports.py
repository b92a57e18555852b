import subprocess
import sys


def test_reading_formats_needs_no_django_and_no_torch():
    code = "import sys, profiling.formats; print({'django', 'torch', 'celery'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
