"""Users' own workloads, as small as they come."""

import io
import zipfile

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
        archive.writestr(name, code)
        for other, text in more.items():
            archive.writestr(other, text)
    return buffer.getvalue()
