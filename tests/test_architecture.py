"""Who may import whom. If this fails, move the code; do not edit the table."""

import ast
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
