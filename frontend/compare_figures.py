"""Figures of the page Compare, and the same numbers as lines of a table; see charts.py for colours."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from frontend.charts import LINE_ROLES, Figure, as_text, layout, rounded
from frontend.compare_form import Comparison, Row
from frontend.plan_figures import UNITS, quantity_title
from modeling.comparing import Line, line_through
from modeling.selectors.comparisons import Scaling, Standing
from profiling.knobs import KNOB_NAMES, Knobs

METRICS = {
    "realtime": "realtime factor",
    "samples_per_s": "samples a second",
    "realtime_per_w": "realtime factor a watt",
    "samples_per_j": "samples a second per watt",
    "speedup": "speed-up",
    "sample_j": "J a sample",
}
INSTEAD = {"realtime": "samples_per_s", "realtime_per_w": "samples_per_j"}
HATCH = {"predicted": "/"}
FACTS = ("subject", "framework", "minibatch", *KNOB_NAMES, "origin", "time_ms", "power_mw")


def metric_figures(seen: Comparison) -> list[tuple[str, str, Figure]]:
    """Name, title and bars; where no realtime factor is known, throughput in samples stands for it."""
    names = ["realtime", "realtime_per_w", "speedup", "sample_j"]
    sound = any(row.realtime is not None for row in seen.rows)
    shown = names if sound else [INSTEAD.get(name, name) for name in names]
    return [(name, METRICS[name], _bars(seen.rows, name)) for name in shown]


def _bars(rows: list[Row], metric: str) -> Figure:
    known = [row for row in rows if getattr(row, metric) is not None]
    bars: Figure = {
        "type": "bar",
        "x": [row.letter for row in known],
        "y": rounded([getattr(row, metric) for row in known]),
        "text": [f"{as_text(row.subject.name)}, {row.standing.origin}" for row in known],
        "textposition": "none",
        "hovertemplate": f"%{{text}}<br>%{{y}} {METRICS[metric]}<extra></extra>",
        "marker": {
            "color": [row.role for row in known],
            "pattern": {"shape": [HATCH.get(row.standing.origin, "") for row in known], "size": 6},
        },
        "showlegend": False,
    }
    shown = layout("", METRICS[metric])
    shown["xaxis"] |= {"type": "category", "categoryarray": [row.letter for row in rows]}
    return {"data": [bars], "layout": shown}


def stock_figure(seen: Comparison) -> Figure | None:
    """Throughput per watt in each stock mode, a colour a subject; hatched where predicted."""
    traces = [_stock_bars(seen, place, row.letter) for place, row in enumerate(seen.rows)]
    traces = [trace for trace in traces if trace["x"]]
    shown = layout("", METRICS["samples_per_j"], barmode="group")
    shown["xaxis"] |= {"type": "category", "categoryarray": [as_text(name) for name in seen.across_stock]}
    return {"data": traces, "layout": shown} if traces else None


def _stock_bars(seen: Comparison, place: int, letter: str) -> Figure:
    there = {name: standings[place] for name, standings in seen.across_stock.items()}
    known = {name: each for name, each in there.items() if each.samples_per_j is not None}
    return {
        "type": "bar",
        "name": letter,
        "x": [as_text(name) for name in known],
        "y": rounded([each.samples_per_j for each in known.values()]),
        "text": [f"{as_text(each.subject.name)}, {each.origin}" for each in known.values()],
        "textposition": "none",
        "hovertemplate": f"%{{text}}<br>%{{x}}: %{{y}} {METRICS['samples_per_j']}<extra></extra>",
        "marker": {
            "color": LINE_ROLES[place % len(LINE_ROLES)],
            "pattern": {"shape": [HATCH.get(each.origin, "") for each in known.values()], "size": 6},
        },
    }


def scaling_figures(seen: Comparison) -> list[dict[str, Any]]:
    """Of each scaling two figures, time and energy of a minibatch, with the line through the points."""
    return [_scaling(place, scaling) for place, scaling in enumerate(seen.scalings)]


def _scaling(place: int, scaling: Scaling) -> dict[str, Any]:
    sides = (
        ("time", "time, ms", scaling.time_ms),
        ("energy", "energy, J", scaling.energy_mj / 1000),
    )
    figures = []
    for name, title, y in sides:
        line = line_through(scaling.x, y)
        figure = _points_and_line(scaling, title, y, line)
        figures.append({"name": f"scaling-{place}-{name}", "title": title, "figure": figure, "line": line})
    return {"scaling": scaling, "figures": figures}


def _points_and_line(scaling: Scaling, title: str, y: Any, line: Line | None) -> Figure:
    role = "--emulated" if scaling.emulated else "--measured"
    points: Figure = {"type": "scatter", "mode": "markers", "x": rounded(scaling.x, 6), "y": rounded(y)}
    data = [points | {"marker": {"color": role, "size": 9}, "showlegend": False}]
    if line is not None:
        ends = np.array([scaling.x.min(), scaling.x.max()])
        fitted: Figure = {"type": "scatter", "mode": "lines", "x": ends.tolist(), "showlegend": False}
        fitted |= {
            "y": rounded(line.intercept + line.slope * ends),
            "line": {"color": "--muted", "dash": "dash"},
        }
        data.append(fitted | {"hoverinfo": "skip"})
    shown = layout("minibatch, samples" if scaling.along == "minibatch" else "input length", title)
    shown["yaxis"] |= {"rangemode": "tozero"}
    return {"data": data, "layout": shown}


def pair_figure(seen: Comparison) -> Figure:
    """Each shared mode a point, both axes logarithmic; on the dashed line both are equal."""
    knobs, first, second = seen.shared
    unit, factor = UNITS[seen.form.cleaned_data["value"]]
    low, high = min(first.min(), second.min()) / factor, max(first.max(), second.max()) / factor
    by_key = {row.subject.key: row.letter for row in seen.rows}
    letters = [by_key[seen.subject(name).key] for name in ("first", "second")]
    emulated = any(seen.subject(name).group.emulated for name in ("first", "second"))
    told = [f"{letter} %{{{axis}}} {unit}" for letter, axis in zip(letters, "xy", strict=True)]
    points: Figure = {
        "type": "scatter",
        "mode": "markers",
        "x": rounded(first / factor),
        "y": rounded(second / factor),
        "text": [str(Knobs(*mode)) for mode in knobs.tolist()],
        "hovertemplate": f"%{{text}}<br>{' and '.join(told)}<extra></extra>",
        "marker": {"color": "--emulated" if emulated else "--measured", "size": 5, "opacity": 0.6},
        "showlegend": False,
    }
    equal: Figure = {"type": "scatter", "mode": "lines", "x": rounded([low, high]), "y": rounded([low, high])}
    equal |= {"line": {"color": "--muted", "dash": "dash"}, "hoverinfo": "skip", "showlegend": False}
    title = quantity_title(seen.form.cleaned_data["value"])
    shown = layout(*(f"{letter}: {title}" for letter in letters))
    for axis in ("xaxis", "yaxis"):
        shown[axis] |= {"type": "log"}
    return {"data": [equal, points], "layout": shown}


def metric_rows(seen: Comparison) -> Iterator[list[Any]]:
    numbers = (
        "energy_j",
        "sample_j",
        "samples_per_s",
        "samples_per_j",
        "realtime",
        "realtime_per_w",
        "speedup",
    )
    yield [*FACTS, *numbers, "unknown"]
    for row in seen.rows:
        values = [getattr(row, name) for name in numbers]
        yield [*_facts(row.standing), *values, row.standing.unknown]


def stock_rows(seen: Comparison) -> Iterator[list[Any]]:
    yield ["stock_mode", *FACTS, "samples_per_j"]
    for name, standings in seen.across_stock.items():
        yield from ([name, *_facts(each), each.samples_per_j] for each in standings)


def _facts(each: Standing) -> list[Any]:
    subject, knobs = each.subject, each.knobs or ("", "", "", "")
    values = [quantity and quantity.value for quantity in (each.time_ms, each.power_mw)]
    return [subject.key, subject.framework or "", subject.group.minibatch, *knobs, each.origin, *values]


def scaling_rows(seen: Comparison) -> Iterator[list[Any]]:
    yield ["what", "along", *KNOB_NAMES, "emulated", "x", "time_ms", "energy_mj"]
    for each in seen.scalings:
        for values in zip(each.x.tolist(), each.time_ms.tolist(), each.energy_mj.tolist(), strict=True):
            yield [each.title, each.along, *each.knobs, each.emulated, *values]


def pair_rows(seen: Comparison) -> Iterator[list[Any]]:
    value, keys = seen.form.cleaned_data["value"], [seen.subject(name).key for name in ("first", "second")]
    yield [*KNOB_NAMES, *(f"{value} of {key}" for key in keys), "ratio"]
    for mode, first, second in zip(*(each.tolist() for each in seen.shared), strict=True):
        yield [*mode, first, second, second / first]


TABLES = {"metrics": metric_rows, "stock": stock_rows, "scaling": scaling_rows, "pair": pair_rows}
