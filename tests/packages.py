"""Users' own workloads, as small as they come."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from profiling.workloads.sandbox import Limits, sandboxed

LINEAR = """
import torch

def build():
    return torch.nn.Linear(8, 2)

def batches(minibatch):
    for _ in range(50):
        yield torch.randn(minibatch, 8), torch.randint(0, 2, (minibatch,))
"""


def zipped(code: str = LINEAR, name: str = "workload.py", **more: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for place, text in {name: code, **more}.items():
            archive.writestr(zipfile.ZipInfo(place), text)  # of 1980: the same bytes every time
    return buffer.getvalue()


def nobodys_python(folder: Path) -> str:
    """An interpreter with this one's libraries that the unprivileged user may execute too."""
    places = os.pathsep.join(path for path in sys.path if path.endswith("-packages"))
    shim = folder / "python"
    for python in (sys.executable, "/usr/bin/python3"):
        shim.write_text(f'#!/bin/sh\nPYTHONPATH={places} exec {python} "$@"\n')
        shim.chmod(0o755)
        probe = sandboxed([str(shim), "-c", "import torch"], Limits())
        if subprocess.run(probe, capture_output=True).returncode == 0:
            return str(shim)
    pytest.skip("the user nobody cannot read this machine's torch")
