"""Who may import whom. If this fails, move the code; do not edit the table."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NO_DJANGO = {"django", "celery", "rest_framework", "profiling.models", "modeling.models"}
FORBIDDEN = {
    "profiling": {"modeling", "frontend", "jetsonlab"},
    "modeling": {"frontend", "jetsonlab", "profiling.board", "profiling.agent"},
    "frontend": {"jetsonlab", "profiling.board", "profiling.agent", "torch"},
    "profiling/board": NO_DJANGO | {"torch"},
    "profiling/formats": NO_DJANGO | {"torch"},
    "profiling/workloads": NO_DJANGO,
    "profiling/agent": NO_DJANGO - {"celery"} | {"torch"},
    "profiling/client": NO_DJANGO | {"torch", "pandas", "numpy"},
    "modeling/core": NO_DJANGO,
}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_dependency_direction(folder):
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in imports(path)
        if any(f"{name}.".startswith(f"{bad}.") for bad in FORBIDDEN[folder])
    ]
    assert found == []


def modules_after(code: str) -> set[str]:
    script = f"{code}; import sys; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "name", ["modeling.core", "profiling.board", "profiling.formats", "profiling.agent", "profiling.client"]
)
def test_the_core_and_the_boards_need_no_django(name):
    package = ROOT / name.replace(".", "/")
    files = [path for path in sorted(package.rglob("*.py")) if path.stem not in ("celery", "__main__")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]
    assert "django" not in modules_after("import " + ", ".join(names))


def test_web_processes_stay_light():
    code = (
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'jetsonlab.settings'; "
        "import django; django.setup(); import jetsonlab.urls"
    )
    assert not {"torch", "sklearn", "profiling.board.sysfs"} & modules_after(code)
