"""What a predictor found of itself by cross-validation, drawn."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from frontend.charts import Figure, layout, rounded
from profiling.knobs import Knobs

Card = Mapping[str, Any]
# Quantity -> its column of the card, the divisor to the unit shown, and the axis in words.
MEASURED = {
    "time": ("time_ms", 1, "measured time of a minibatch, ms"),
    "power": ("power_mw", 1000, "measured power, W"),
}
WORST = 5


def own_figures(card: Card) -> list[tuple[str, str, Figure]]:
    """Name, title and figure; none while the predictor is not fitted or has too few modes."""
    found = []
    if card.get("held_out"):
        found += [
            (
                f"own-{quantity}",
                f"{quantity.capitalize()} error of each held-out mode",
                error_figure(card, quantity),
            )
            for quantity in MEASURED
        ]
    if any((own_error(card).get("calibration") or {}).values()):
        found.append(("own-calibration", "Are its intervals true?", calibration_figure(card)))
    return found


def own_error(card: Card) -> Card:
    return card.get("own_error") or {}


def error_figure(card: Card, quantity: str) -> Figure:
    column, divisor, words = MEASURED[quantity]
    held = card["held_out"]
    axes = layout(words, "predicted − measured, %")
    axes["xaxis"]["type"] = "log"
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": rounded(np.asarray(held[column]) / divisor),
        "y": held[f"{quantity}_error_pct"],
        "text": [mode_words(knobs) for knobs in held["knobs"]],
        "hovertemplate": "%{text}<br>%{x}: %{y} %<extra></extra>",
        "marker": {"color": "--measured", "size": 7},
    }
    return {"data": [points], "layout": axes}


def mode_words(knobs: list[int]) -> str:
    """With the minibatch size where several were measured."""
    mode = str(Knobs(*knobs[:4]))
    return f"{mode}, minibatch {knobs[4]}" if len(knobs) > 4 else mode


def calibration_figure(card: Card) -> Figure:
    """Share of held-out values inside the stated intervals; on the dashed line they are true."""
    axes = layout("stated, %", "found inside, %", legend={"orientation": "h", "y": -0.25})
    axes["xaxis"] |= {"range": [45, 100]}
    axes["yaxis"] |= {"range": [0, 103]}
    truth = {
        "type": "scatter", "mode": "lines", "name": "as stated", "x": [40, 100], "y": [40, 100],
        "hoverinfo": "skip", "line": {"color": "--muted", "width": 1, "dash": "dash"},
    }  # fmt: skip
    looks = (("time", "--measured", "circle"), ("power", "--front", "diamond"))
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": quantity,
            "x": [int(level) for level in held],
            "y": rounded(list(held.values())),
            "hovertemplate": f"{quantity}: %{{y:.3~g}} % inside the %{{x}} % intervals<extra></extra>",
            "line": {"color": role},
            "marker": {"color": role, "size": 8, "symbol": mark},
        }
        for quantity, role, mark in looks
        if (held := own_error(card)["calibration"][quantity])
    ]
    return {"data": [truth, *traces], "layout": axes}


def worst_held_out(card: Card) -> list[dict[str, Any]]:
    """The held-out modes predicted worst, by the larger of both errors."""
    held = card.get("held_out")
    if not held:
        return []
    columns = zip(
        held["knobs"],
        held["time_ms"],
        held["time_error_pct"],
        held["power_mw"],
        held["power_error_pct"],
        strict=True,
    )
    names = ("mode", "time_ms", "time_pct", "power_mw", "power_pct")
    rows = [dict(zip(names, (mode_words(knobs), *rest), strict=True)) for knobs, *rest in columns]
    return sorted(rows, key=lambda row: -max(abs(row["time_pct"]), abs(row["power_pct"])))[:WORST]
