"""The site itself on the other end; only the wire between is short."""

import httpx
import pytest

from jetsonlab.wsgi import application
from profiling.client import Lab
from profiling.models import Upload
from profiling.services.imports import upload_work
from tests.tokens import EVERYTHING, token_of

SERVER = "http://127.0.0.1"
PAIR = {"workload": "resnet", "device_model": "orin-mini"}
ROW = {"cores": 2, "cpu_khz": 268_800, "gpu_khz": 318_750, "mem_khz": 665_600}
ROW |= {"time_ms": 100, "power_mw": 10_000}
GOOD = "cores,cpu_khz,gpu_khz,mem_khz,time_ms,power_w\n2,268800,318750,665600,100,10\n"


class Line(httpx.WSGITransport):
    """The wire: the first `cut` requests get nowhere, the next `busy` a 503. The next pieces of a transfer
    break off after so many bytes: the site sees a body that ends too early, the client no answer."""

    cut, busy, asked = 0, 0, 0
    dies_after: list[int] = []  # noqa: RUF012 (set by tests)

    def handle_request(self, request):
        self.asked += 1
        if self.cut:
            self.cut -= 1
            raise httpx.ConnectError("cut", request=request)
        if self.busy:
            self.busy -= 1
            return httpx.Response(503, headers={"Retry-After": "7"}, request=request)
        if request.method == "PATCH" and self.dies_after:
            piece = request.read()[: self.dies_after.pop(0)]
            half = httpx.Request("PATCH", request.url, headers=request.headers, content=piece)
            half.headers["Content-Length"] = request.headers["Content-Length"]
            super().handle_request(half)
            raise httpx.ReadError("broken off", request=request)
        return super().handle_request(request)


@pytest.fixture
def line():
    return Line(app=application)


@pytest.fixture
def slept():
    return []


@pytest.fixture
def lab(eng, orin, resnet, line, slept, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("profiling.services.uploads.wake_worker", lambda *_: None)

    def sleep(seconds):
        """While the client waits, a worker works."""
        slept.append(seconds)
        for upload in Upload.objects.filter(state="received"):
            upload_work(upload_id=upload.pk)

    return Lab(SERVER, token_of(eng, *EVERYTHING), transport=line, sleep=sleep)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "sweep.csv"
    path.write_text(GOOD)
    return path
