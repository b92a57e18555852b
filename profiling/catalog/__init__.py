"""The device models jetsonlab knows, from device_models.json: clocks to kHz at this border."""

import json
from pathlib import Path
from typing import Any

CATALOG = Path(__file__).with_name("device_models.json")


def khz(hz: int | None) -> int | None:
    return None if hz is None else round(hz / 1000)


def device_model_entries() -> list[dict[str, Any]]:
    """One dict a board with the fields of DeviceModel; unknown stays None."""
    return [_entry(raw) for raw in json.loads(CATALOG.read_text())["device_models"]]


def _entry(raw: dict[str, Any]) -> dict[str, Any]:
    same = ("slug", "name", "generation", "soc", "gpu", "cuda_cores", "tensor_cores", "ram_gb", "ram_type")
    kept = ("peak_power_w", "price_usd", "cores", "cpu_khz", "rails", "total_rails")
    return {
        **{field: raw[field] for field in same + kept},
        "gpu_khz": [khz(hz) for hz in raw["gpu_hz"]],
        "mem_khz": [khz(hz) for hz in raw["emc_hz"]],
        "other_gpu_khz": [khz(hz) for hz in raw.get("gpu_hz_newer_jetpack", [])],
        "knobs_note": f"Memory clocks: {raw['emc_note']}." if "emc_note" in raw else "",
        "total_note": raw.get("total_note", ""),
        "presets": [_preset(preset) for preset in raw["presets"]],
    }


def _preset(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": raw["id"],
        "name": raw["name"],
        "cores": raw["cores"],
        "cpu_khz": raw["cpu_khz"],
        "gpu_khz": khz(raw["gpu_hz"]),
        "mem_khz": khz(raw["emc_hz"]),
        "reboot": raw.get("reboot", False),
        "default": raw.get("default", False),
    }
