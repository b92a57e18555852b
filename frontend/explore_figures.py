"""Figures of the page Explore, and the same numbers as lines of a table; see charts.py for colours."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from frontend.charts import Figure, as_text, layout, rounded
from frontend.explore_form import MOST_OUTLIERS, Explored
from frontend.plan_extras_form import KNOB_LABELS
from frontend.plan_figures import LOW_TO_HIGH, UNITS, knob_title, knob_values, log_bar, quantity_title
from frontend.wording import significant
from profiling.knobs import KNOB_NAMES
from profiling.selectors.exploring import SETTINGS
from profiling.variability import Curve, percent

MOST_VIOLINS = 12


def coverage_figure(seen: Explored) -> Figure:
    told, chosen = seen.coverage, seen.form.cleaned_data
    shares = 100 * np.array(told["measured"]) / told["per_cell"]
    words = f"{_cell_words(chosen)}<br>%{{customdata}} of {told['per_cell']} modes<extra></extra>"
    cells = _cells(chosen, told, [rounded(row) for row in shares], told["measured"], words)
    bar = {"title": {"text": "modes measured, %", "side": "right"}, "thickness": 12, "outlinewidth": 0}
    cells |= {
        "colorscale": [[0, "--tint"], [1e-6, "--band"], [1, seen.role]],
        "zmin": 0,
        "zmax": 100,
        "colorbar": bar,
    }
    return {"data": [cells], "layout": layout(knob_title(chosen["x"]), knob_title(chosen["y"]))}


def map_figure(seen: Explored) -> Figure:
    """Colour follows the logarithm, as on the planner's maps. Holes were not measured."""
    chosen, (unit, factor) = seen.form.cleaned_data, UNITS[seen.quantity]
    values = np.array(seen.map["z"], dtype=float) / factor
    logs = np.log10(values)
    words = f"{_cell_words(chosen)}<br>%{{customdata}} {unit}<extra></extra>"
    cells = _cells(chosen, seen.map, [rounded(row) for row in logs], [rounded(row) for row in values], words)
    ends = float(np.nanmin(logs)), float(np.nanmax(logs))
    cells |= {"colorscale": LOW_TO_HIGH, "colorbar": log_bar(quantity_title(seen.quantity), *ends)}
    return {"data": [cells], "layout": layout(knob_title(chosen["x"]), knob_title(chosen["y"]))}


def _cell_words(chosen: dict[str, Any]) -> str:
    return "<br>".join(knob_words(chosen[axis], f"%{{{axis}}}") for axis in ("x", "y"))


def knob_words(name: str, value: str) -> str:
    return f"{value} cores" if name == "cores" else f"{KNOB_LABELS[name]} {value} MHz"


def _cells(chosen: dict[str, Any], grid: dict[str, Any], z: Any, told: Any, words: str) -> Figure:
    x, y = knob_values(chosen["x"], grid["x"]), knob_values(chosen["y"], grid["y"])
    base: Figure = {"type": "heatmap", "x": x, "y": y, "z": z, "customdata": told, "hovertemplate": words}
    return base | {"xgap": 1, "ygap": 1}


def distribution_figure(seen: Explored) -> Figure:
    factor = UNITS[seen.quantity][1]
    counts, ends = seen.histogram
    ends = ends / factor
    bars: Figure = {
        "type": "bar",
        "x": rounded((ends[:-1] + ends[1:]) / 2),
        "y": counts.tolist(),
        "width": rounded(np.diff(ends)),
        "customdata": [rounded(pair) for pair in zip(ends[:-1], ends[1:], strict=True)],
        "hovertemplate": f"%{{customdata[0]}} to %{{customdata[1]}} {UNITS[seen.quantity][0]}<br>"
        "%{y} runs<extra></extra>",
        "marker": {"color": seen.role},
        "showlegend": False,
    }
    return {"data": [bars], "layout": layout(quantity_title(seen.quantity), "runs")}


def distribution_words(seen: Explored) -> str:
    unit, factor = UNITS[seen.quantity]
    names = ("least", "lower quartile", "median", "upper quartile", "largest")
    told = zip(names, seen.quartiles, strict=True)
    return ", ".join(f"{name} {significant(value / factor, 4)} {unit}" for name, value in told)


def curve_figures(seen: Explored) -> list[tuple[str, Figure]]:
    """One for each knob, all of the same height; bars reach from the least to the largest repeat."""
    factor = UNITS[seen.quantity][1]
    top = 1.05 * max((float(curve.high.max()) for curve in seen.curves), default=1) / factor
    return [(KNOB_LABELS[KNOB_NAMES[curve.knob]], _curve(seen, curve, top)) for curve in seen.curves]


def _curve(seen: Explored, curve: Curve, top: float) -> Figure:
    name, (unit, factor) = KNOB_NAMES[curve.knob], UNITS[seen.quantity]
    here = int(seen.sample.modes.settings[seen.base, curve.knob])
    x, y = knob_values(name, curve.steps), rounded(curve.median / factor)
    reach = {
        "type": "data",
        "symmetric": False,
        "array": rounded((curve.high - curve.median) / factor),
        "arrayminus": rounded((curve.median - curve.low) / factor),
        "color": "--muted",
        "thickness": 1,
    }
    line: Figure = {"type": "scatter", "mode": "lines+markers", "x": x, "y": y, "error_y": reach}
    sizes = [11 if step == here else 6 for step in curve.steps.tolist()]
    line |= {"line": {"color": seen.role, "width": 1.5}, "marker": {"color": seen.role, "size": sizes}}
    shown = layout(knob_title(name), quantity_title(seen.quantity))
    shown["yaxis"] |= {"range": [0, top]}
    words = f"{knob_words(name, '%{x}')}: %{{y}} {unit}<extra></extra>"
    return {"data": [line | {"hovertemplate": words, "showlegend": False}], "layout": shown}


def repeats_figure(seen: Explored) -> Figure | None:
    """The modes of one board with most repeats, the most repeated first."""
    modes, boards = seen.sample.places, seen.sample.board_names()
    often = [
        place for place in np.argsort(-modes.count, kind="stable")[:MOST_VIOLINS] if modes.count[place] > 1
    ]
    shown = percent(seen.departures)
    several = len(np.unique(seen.sample.boards)) > 1
    named = {
        place: [
            mode_words(modes.settings[place]),
            *([as_text(boards.get(modes.settings[place][-1], "?"))] * several),
        ]
        for place in often
    }
    violins = [
        _violin("<br>".join(words), shown[modes.of_run == place], seen.role) for place, words in named.items()
    ]
    return _violins(violins, "from the mode's median, %") if violins else None


def boards_figure(seen: Explored) -> Figure | None:
    violins = [_violin(as_text(name), percent(logs), seen.role) for name, logs in seen.boards.items()]
    return _violins(violins, "from all boards' median, %") if violins else None


def _violin(name: str, values: Any, role: str) -> Figure:
    marks: Figure = {"points": "all", "pointpos": 0, "jitter": 0.4, "marker": {"size": 4, "color": role}}
    return {
        "type": "violin",
        "name": name,
        "y": rounded(values),
        "box": {"visible": True},
        "hoveron": "points",
        "hovertemplate": "%{x}<br>%{y} %<extra></extra>",
        "spanmode": "hard",  # no violin reaches where nothing was measured
        "line": {"color": role, "width": 1},
        "fillcolor": "--band",
        "showlegend": False,
        **marks,
    }


def _violins(violins: list[Figure], title: str) -> Figure:
    shown = layout("", title)
    shown["xaxis"] |= {"type": "category", "tickfont": {"size": 10}}
    return {"data": violins, "layout": shown}


def mode_words(settings: Any) -> str:
    """'8 · 1498 · 625 · 2133': cores and the clocks in MHz, ? for unknown."""
    cores, *clocks = (int(value) for value in settings[:4])
    return " · ".join(
        ["?" if cores < 0 else str(cores), *("?" if c < 0 else f"{c / 1000:.0f}" for c in clocks)]
    )


def coverage_rows(seen: Explored) -> Iterator[list[Any]]:
    chosen = seen.form.cleaned_data
    yield [chosen["x"], chosen["y"], "modes_measured", "modes_legal"]
    yield from _grid_rows(
        seen.coverage, seen.coverage["measured"], lambda _row, _column: seen.coverage["per_cell"]
    )


def map_rows(seen: Explored) -> Iterator[list[Any]]:
    chosen, runs = seen.form.cleaned_data, seen.map["runs"]
    yield [chosen["x"], chosen["y"], f"{chosen['of']}_{seen.quantity}", "runs"]
    yield from _grid_rows(seen.map, seen.map["z"], lambda row, column: runs[row][column])


def _grid_rows(grid: dict[str, Any], cells: Any, last: Any) -> Iterator[list[Any]]:
    for row, up in enumerate(grid["y"]):
        for column, across in enumerate(grid["x"]):
            yield [across, up, cells[row][column], last(row, column)]


def distribution_rows(seen: Explored) -> Iterator[list[Any]]:
    yield [f"{seen.quantity}_from", f"{seen.quantity}_to", "runs"]
    if len(seen.sample):
        counts, ends = (each.tolist() for each in seen.histogram)
        yield from map(list, zip(ends[:-1], ends[1:], counts, strict=True))


def curve_rows(seen: Explored) -> Iterator[list[Any]]:
    base = seen.sample.modes.settings[seen.base].tolist() if len(seen.sample) else []
    yield [*SETTINGS, "varied", f"median_{seen.quantity}", "least", "largest"]
    for curve in seen.curves:
        for step, *values in zip(
            *(each.tolist() for each in (curve.steps, curve.median, curve.low, curve.high)), strict=True
        ):
            mode = [step if place == curve.knob else held for place, held in enumerate(base)]
            yield [*mode, KNOB_NAMES[curve.knob], *values]


def repeat_rows(seen: Explored) -> Iterator[list[Any]]:
    yield ["run", *SETTINGS, seen.quantity, "departure_pct"]
    for place in np.flatnonzero(np.isfinite(seen.departures)).tolist():
        yield [*_run_cells(seen, place), float(percent(seen.departures[place]))]


def board_rows(seen: Explored) -> Iterator[list[Any]]:
    yield ["board", "departure_pct"]
    for name, logs in seen.boards.items():
        yield from ([name, value] for value in percent(logs).tolist())


def outlier_rows(seen: Explored) -> Iterator[list[Any]]:
    yield ["run", *SETTINGS, seen.quantity, "expected", "departure_pct", "against"]
    for each in seen.outliers:
        yield [*_run_cells(seen, each.run), each.expected, each.departure_pct, each.rule]


def _run_cells(seen: Explored, place: int) -> list[Any]:
    sample = seen.sample
    return [int(sample.ids[place]), *sample.settings[place].tolist(), float(sample.values[place])]


def outlier_cells(seen: Explored) -> list[dict[str, Any]]:
    unit, factor = UNITS[seen.quantity]
    return [
        {
            "run": int(seen.sample.ids[each.run]),
            "mode": mode_words(seen.sample.settings[each.run]),
            "value": float(seen.sample.values[each.run]) / factor,
            "expected": each.expected / factor,
            "departure": each.departure_pct,
            "unit": unit,
            "rule": each.rule,
        }
        for each in seen.outliers[:MOST_OUTLIERS]
    ]


TABLES = {
    "coverage": coverage_rows,
    "map": map_rows,
    "distribution": distribution_rows,
    "curves": curve_rows,
    "repeats": repeat_rows,
    "boards": board_rows,
    "outliers": outlier_rows,
}
