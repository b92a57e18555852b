"""Data in, Plotly figures out: plain dicts. A colour such as "--measured" is resolved by the page's theme."""

from collections.abc import Mapping
from typing import Any

import numpy as np

Figure = dict[str, Any]
FAMILIES = (
    ("power_", "Power, mW"),
    ("temp_", "Temperature, °C"),
    ("_khz", "Clocks, kHz"),
    ("util", "Utilisation, %"),
)
LINE_ROLES = ("--measured", "--front", "--stock", "--chosen", "--emulated", "--muted", "--accent", "--warn")


def rounded(values: Any, digits: int = 4) -> list[float | None]:
    """To significant digits, so that the page carries no more than the eye can see."""
    numbers = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.abs(numbers))))
    shown = np.where(np.isfinite(scale), np.round(numbers * scale) / scale, numbers)
    return [None if value != value else value for value in shown.tolist()]


def layout(x: str, y: str, **more: Any) -> Figure:
    return {
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}},
        "margin": {"l": 64, "r": 16, "t": 16, "b": 48},
        "hovermode": "closest",
        **more,
    }


def family_of(channel: str) -> str:
    return next((title for mark, title in FAMILIES if mark in channel), "Other")


def telemetry_figures(channels: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, Figure]:
    """One figure for each kind of channel, time in seconds since the run began."""
    families: dict[str, list[str]] = {}
    for name in channels:
        families.setdefault(family_of(name), []).append(name)
    return {
        title: {
            "data": [
                _line(name, *channels[name], role) for name, role in zip(names, _roles(names), strict=True)
            ],
            "layout": layout("time since start, s", title, legend={"orientation": "h", "y": 1.15}),
        }
        for title, names in families.items()
    }


def _roles(names: list[str]) -> list[str]:
    return [LINE_ROLES[place % len(LINE_ROLES)] for place in range(len(names))]


def _line(name: str, time_s: np.ndarray, values: np.ndarray, role: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": rounded(time_s, 6),
        "y": rounded(values),
        "line": {"color": role, "width": 1.5},
    }
