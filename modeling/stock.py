"""NVIDIA's own modes, as rows of a board's modes, and the nvpmodel text of one of ours."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.forms.models import model_to_dict

from profiling import nvpmodel
from profiling.catalog import CATALOG
from profiling.knobs import Knobs
from profiling.models import Device, DeviceModel
from profiling.soc import knob_range


@dataclass(frozen=True)
class StockMode:
    """`exact` is False where NVIDIA's clocks are off the kernel's table, so that the nearest stand for it."""

    name: str
    rank: int
    knobs: Knobs
    exact: bool


def stock_modes(device_model: DeviceModel) -> list[StockMode]:
    """Those whose knobs are all known. nvpmodel only caps clocks: these are the fastest they may be."""
    ranges, found = device_model.ranges, []
    for preset in device_model.presets:
        values = [preset.get(name) for name in Knobs._fields]
        if None in values:
            continue
        knobs = ranges.nearest(Knobs(*values))
        found.append(StockMode(preset["name"], ranges.rank(knobs), knobs, list(knobs) == values))
    return found


def power_model_block(*, device_model: DeviceModel, knobs: Knobs, device: Device | None = None) -> str:
    """nvpmodel text that pins a board to these knobs; with a device, for its own file's names and next id."""
    conf = nvpmodel.parse(device.nvpmodel_conf) if device is not None and device.nvpmodel_conf else None
    stock_ids = [preset["id"] for preset in device_model.presets]
    mode_id = conf.free_id if conf else max(stock_ids, default=-1) + 1
    mhz = "_".join(str(khz // 1000) for khz in knobs[1:])
    name = f"JETSONLAB_{knobs.cores}C_{mhz}"
    return nvpmodel.power_model_block(
        kernel_entry(device_model), knobs, mode_id=mode_id, name=name, conf=conf
    )


def kernel_entry(device_model: DeviceModel) -> dict[str, Any]:
    """The catalogue's entry, whose clocks are the kernel's exact Hz; a board of one's own has kHz only."""
    known = _catalogue().get(device_model.slug)
    if known is not None and knob_range(known) == device_model.ranges:
        return known
    return model_to_dict(device_model)


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, dict[str, Any]]:
    return {entry["slug"]: entry for entry in json.loads(CATALOG.read_text())["device_models"]}
