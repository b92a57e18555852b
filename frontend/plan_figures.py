"""Figures of the sections under a plan; see charts.py for colours."""

from typing import Any

import numpy as np

from frontend.charts import Figure, layout, rounded
from frontend.plan_extras_form import BRUSHES, KNOB_LABELS, QUANTITY_LABELS, label_and_unit
from modeling.selectors.explorations import KnobCurve, KnobMap, ParallelModes
from profiling.knobs import KNOB_NAMES

UNITS = {"time_ms": ("ms", 1), "power_mw": ("W", 1000), "energy_mj": ("J", 1000)}
LOW_TO_HIGH = "Cividis"


def quantity_title(name: str) -> str:
    return f"{QUANTITY_LABELS[name]}, {UNITS[name][0]}"


def knob_title(name: str) -> str:
    return "cores" if name == "cores" else f"{KNOB_LABELS[name]}, MHz"


def knob_values(name: str, values: Any) -> list[float | None]:
    return rounded(np.asarray(values) / (1 if name == "cores" else 1000), 6)


def map_figure(shown: KnobMap, as_surface: bool) -> Figure:
    return surface(shown) if as_surface else heat_map(shown)


def _grid(shown: KnobMap) -> list[list[float | None]]:
    return [rounded(row / UNITS[shown.quantity][1]) for row in shown.values]


def _place(shown: KnobMap, mark: tuple[int, int]) -> tuple[list[float | None], list[float | None]]:
    return knob_values(shown.across, [mark[0]]), knob_values(shown.up, [mark[1]])


def heat_map(shown: KnobMap) -> Figure:
    """Colour follows the logarithm: the slowest corner would leave the rest one colour."""
    unit, factor = UNITS[shown.quantity]
    x, y = knob_values(shown.across, shown.x), knob_values(shown.up, shown.y)
    words = f"%{{x}} × %{{y}}<br>%{{customdata}} {unit}<extra></extra>"
    logs = np.log10(shown.values / factor)
    cells = {
        "type": "heatmap",
        "x": x,
        "y": y,
        "z": [rounded(row) for row in logs],
        "customdata": _grid(shown),
    }
    bar = log_bar(quantity_title(shown.quantity), float(logs.min()), float(logs.max()))
    return {
        "data": [
            {**cells, "hovertemplate": words, "colorscale": LOW_TO_HIGH, "colorbar": bar},
            _mark("least", "diamond", "--front", *_place(shown, shown.least), size=13),
            _mark("chosen", "star", "--chosen", *_place(shown, shown.chosen), size=16),
        ],
        "layout": layout(knob_title(shown.across), knob_title(shown.up), showlegend=False),
    }


def log_bar(title: str, low: float, high: float) -> Figure:
    ticks = np.linspace(low, high, 6)
    shown = [f"{10**tick:.3g}" for tick in ticks]
    bar = {"title": {"text": title, "side": "right"}, "thickness": 12, "outlinewidth": 0}
    return {**bar, "tickvals": rounded(ticks), "ticktext": shown}


def _mark(name: str, symbol: str, role: str, x: Any, y: Any, size: int, **more: Any) -> Figure:
    marker = {"symbol": symbol, "color": role, "size": size, "line": {"color": "--surface", "width": 1.5}}
    base = {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y, "marker": marker}
    return {**base, "hoverinfo": "skip", "showlegend": False, **more}


def surface(shown: KnobMap) -> Figure:
    """The topology of "Energy of inference"'s figures: height is the quantity."""
    x, y = knob_values(shown.across, shown.x), knob_values(shown.up, shown.y)
    titles = (knob_title(shown.across), knob_title(shown.up), quantity_title(shown.quantity))
    axis = {"gridcolor": "--line", "color": "--text", "showbackground": False}
    axes = {
        f"{name}axis": {**axis, "title": {"text": text}} for name, text in zip("xyz", titles, strict=True)
    }
    axes["zaxis"]["type"] = "log" if shown.quantity == "time_ms" else "linear"
    body: Figure = {"type": "surface", "x": x, "y": y, "z": _grid(shown), "colorscale": LOW_TO_HIGH}
    least = {"z": rounded([shown.least_value / UNITS[shown.quantity][1]]), "type": "scatter3d"}
    return {
        "data": [
            {**body, "showscale": False, "contours": {"z": {"show": True, "usecolormap": True}}},
            _mark("least", "diamond", "--front", *_place(shown, shown.least), size=6, **least),
        ],
        "layout": {"scene": axes, "margin": {"l": 0, "r": 0, "t": 0, "b": 0}, "uirevision": "kept"},
    }


def curve_figures(curves: list[KnobCurve], quantity: str) -> list[tuple[str, Figure]]:
    """One figure a knob, all with the same height, so that steep is steep."""
    shown = [curve for curve in curves if curve.quantity == quantity]
    ends = [end for curve in shown for end in (curve.low, curve.high, curve.values) if end is not None]
    factor = UNITS[quantity][1]
    top = max(float(np.max(end)) for end in ends) / factor * 1.05
    return [(KNOB_LABELS[curve.knob], _curve(curve, top)) for curve in shown]


def _curve(curve: KnobCurve, top: float) -> Figure:
    factor, x = UNITS[curve.quantity][1], knob_values(curve.knob, curve.x)
    y = rounded(curve.values / factor)
    line: Figure = {"type": "scatter", "mode": "lines+markers", "x": x, "y": y, "name": "predicted"}
    line |= {"line": {"color": "--accent", "width": 2}, "marker": {"size": 4}, "showlegend": False}
    found = curve.measured.tolist()
    return {
        "data": [
            *_band(curve, x),
            {**line, "hovertemplate": f"%{{x}}: %{{y}} {UNITS[curve.quantity][0]}<extra></extra>"},
            _mark("measured", "circle", "--measured", [x[i] for i in found], [y[i] for i in found], size=9),
            _mark("chosen", "star", "--chosen", [x[curve.chosen]], [y[curve.chosen]], size=15),
        ],
        "layout": {
            **layout(knob_title(curve.knob), quantity_title(curve.quantity)),
            "yaxis": {"title": {"text": quantity_title(curve.quantity)}, "range": [0, top]},
            "margin": {"l": 64, "r": 8, "t": 8, "b": 44},
        },
    }


def _band(curve: KnobCurve, x: list[float | None]) -> list[Figure]:
    if curve.low is None or curve.high is None:
        return []
    factor = UNITS[curve.quantity][1]
    edge: Figure = {"type": "scatter", "mode": "lines", "x": x, "line": {"width": 0}, "hoverinfo": "skip"}
    edge["showlegend"] = False
    low, high = rounded(curve.low / factor), rounded(curve.high / factor)
    return [{**edge, "y": low}, {**edge, "y": high, "fill": "tonexty", "fillcolor": "--band"}]


def parallel_figure(shown: ParallelModes, extents: dict[str, tuple[float, float]]) -> Figure:
    columns = {name: shown.knobs[:, place] for place, name in enumerate(KNOB_NAMES)} | shown.columns
    lines = {"color": shown.on_front.tolist(), "colorscale": [[0, "--predicted"], [1, "--front"]]}
    axes = [_axis(name, values, extents.get(name)) for name, values in columns.items()]
    fonts = {"labelfont": {"size": 12}, "tickfont": {"size": 10}, "rangefont": {"size": 10}}
    trace: Figure = {
        "type": "parcoords",
        "line": {**lines, "cmin": 0, "cmax": 1},
        "dimensions": axes,
        **fonts,
    }
    return {"data": [trace], "layout": {"margin": {"l": 48, "r": 56, "t": 40, "b": 20}}}


def _axis(name: str, values: Any, extent: tuple[float, float] | None) -> Figure:
    shown, factor = BRUSHES[name]
    axis = {
        "label": ", ".join(filter(None, label_and_unit(shown))),
        "name": shown,
        "values": rounded(values / factor, 5),
        "tickformat": ",.6~r" if name in KNOB_NAMES else ",.3~r",
        "multiselect": False,
    }
    kept = None if extent is None else [end / factor for end in extent]
    return axis if kept is None else {**axis, "constraintrange": kept}
