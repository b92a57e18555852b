"""All benchmarks, one after the other, each in a process and a lab of its own: python -m bench [PART …]"""

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

# The two last share a lab: the site at a tenth of the size that docs/operations.md tells of.
PARTS = {
    "core": (),
    "scaling": (),
    "plan": (),
    "online": (),
    "page": (),
    "agent": (),
    "telemetry": (),
    "imports": (),
    "fill": ("--runs", "100000", "--values", "10000000"),
    "browse": (),
}
SHARING = ("fill", "browse")
NO_PARTS = {"__main__", "report"}


def parts() -> list[str]:
    """Those above in their order, and before the shared lab any other file of this folder."""
    others = {path.stem for path in Path(__file__).parent.glob("*.py")} - NO_PARTS - set(PARTS)
    alone = [name for name in PARTS if name not in SHARING]
    return [*alone, *sorted(others), *SHARING]


def environment(name: str, folder: str) -> dict[str, str]:
    own = {"JETSONLAB_DATA": folder, "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3"}
    quiet = {"DJANGO_SETTINGS_MODULE": "jetsonlab.settings", "LOG_LEVEL": "ERROR"}
    return os.environ | quiet | (own if name in SHARING else {})


def main(asked: list[str]) -> int:
    """The number of parts that failed."""
    wrong = [name for name in asked if name not in parts()]
    if wrong:
        raise SystemExit(f"No benchmark {', '.join(wrong)}; there are {', '.join(parts())}.")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in asked or parts():
            title = (import_module(f"bench.{name}").__doc__ or "").splitlines()[0]
            print(f"\n{name}: {title}", flush=True)
            command = [sys.executable, "-m", f"bench.{name}", *PARTS.get(name, ())]
            failed += bool(subprocess.run(command, env=environment(name, folder), check=False).returncode)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
