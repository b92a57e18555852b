"""Boards whose every mode is known by formula, so that tests can measure a few and check the rest."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from celery.canvas import Signature

from modeling.models import Predictor
from modeling.services.predictors import predictor_request
from modeling.training import predictor_fit
from profiling.models import DeviceModel, Run, Workload
from profiling.models.inventory import Device

Measure = Callable[..., list[Run]]
Fit = Callable[..., Predictor]


def truth(knobs: np.ndarray, minibatch: np.ndarray | int = 16) -> tuple[np.ndarray, np.ndarray]:
    """time_ms and power_mw of a network that is half GPU, half CPU work, on a board of some 10 to 30 W."""
    cores, cpu, gpu, mem = (np.asarray(knobs, float) / [6, 2_201_600, 1_300_500, 3_199_000]).T
    time_ms = minibatch / 16 * (30 / gpu + 20 / (cpu * np.sqrt(cores)) + 10 / mem)
    power_mw = 6000 + 14_000 * gpu**1.5 + 8000 * cores * cpu**2 + 3000 * mem
    return time_ms, power_mw


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the messages sent to workers; no test needs a broker."""
    messages: list[int] = []
    monkeypatch.setattr(Signature, "delay", lambda self: messages.extend(self.args))
    return messages


@pytest.fixture
def after_commit(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Any:
    """What is done once a transaction is committed; no board hears of it."""
    monkeypatch.setattr("profiling.services.sweeps.wake_agent", lambda slug: None)
    return django_capture_on_commit_callbacks


@pytest.fixture
def measure(orin: DeviceModel) -> Measure:
    """Measure these rows of a board's modes, by the formula."""

    def create(
        workload: Workload,
        rows: Sequence[int],
        board: DeviceModel = orin,
        minibatch: int = 16,
        emulated: bool = False,
        slower: float = 1.0,
    ) -> list[Run]:
        knobs = board.all_modes()[list(rows)]
        times, powers = truth(knobs, minibatch)
        return Run.objects.bulk_create(
            Run(
                workload=workload,
                device_model=board,
                minibatch=minibatch,
                emulated=emulated,
                time_ms=float(time) * slower,
                power_mw=float(power),
                **dict(zip(("cores", "cpu_khz", "gpu_khz", "mem_khz"), mode.tolist(), strict=True)),
            )
            for mode, time, power in zip(knobs, times, powers, strict=True)
        )

    return create


@pytest.fixture
def yolo(db: None) -> Workload:
    return Workload.objects.create(
        slug="yolo", name="YOLO v8", kind="training", network="YOLOv8n", dataset="COCO", minibatch=16
    )


@pytest.fixture
def fit(resnet: Workload, orin: DeviceModel) -> Fit:
    """Request and fit as the worker does, without the message."""

    def do(workload: Workload = resnet, board: DeviceModel = orin, method: str = "gp") -> Predictor:
        asked = predictor_request(workload=workload, device_model=board, method=method)
        predictor_fit(predictor_id=asked.pk)
        asked.refresh_from_db()
        return asked

    return do


FEW = [0, 5, 10, 15, 20, 25, 30, 35]


@pytest.fixture
def ready(resnet: Workload, measure: Measure, fit: Fit) -> Predictor:
    """A predictor fitted on eight of orin's 36 modes, the largest among them."""
    measure(resnet, FEW)
    return fit()


@pytest.fixture
def xavier(orin: DeviceModel) -> DeviceModel:
    """A second board, with other ranges."""
    fields = {"slug": "xavier-mini", "name": "Xavier Mini", "generation": "Xavier", "soc": "T194"}
    ranges = {"cores": [2, 4], "cpu_khz": [1_190_400, 2_265_600], "gpu_khz": [520_200, 1_377_000]}
    return DeviceModel.objects.create(**fields, **ranges, gpu="Volta", mem_khz=[1_331_200, 2_133_000])


@pytest.fixture
def emulator(orin: DeviceModel) -> Device:
    return Device.objects.create(
        slug="emu-1", name="Emulator 1", device_model=orin, driver=Device.Driver.EMULATED
    )
