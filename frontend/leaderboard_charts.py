"""The leaderboard's figures. A method keeps its colour and its mark in all of them."""

from collections.abc import Callable, Sequence
from typing import Any

from frontend.charts import Figure, as_text, layout, rounded
from modeling.core.predictors import METHODS
from modeling.selectors.evaluations import Contest

Row = dict[str, Any]
# The last two are the baselines: grey.
ROLES = ("--measured", "--front", "--stock", "--chosen", "--emulated", "--warn", "--muted", "--infeasible")
MARKS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star", "hexagon")
LEVELS = (50, 80, 90, 95)
QUANTITIES = ("time", "power")
AGAINST = {"profiled": "modes profiled", "profiling_min": "minutes of profiling"}
LEGEND = {"orientation": "h", "y": -0.25}
PERCENT = "%{y:.3~g} %"


def style(method: str) -> tuple[str, str]:
    """Colour and mark, the same on every page."""
    place = list(METHODS).index(method) if method in METHODS else len(METHODS)
    return ROLES[place % len(ROLES)], MARKS[place % len(MARKS)]


def contest_figures(contest: Contest) -> dict[str, Figure]:
    """Title -> figure: errors against modes and minutes, and how true the stated intervals are."""
    errors = {
        f"{quantity.capitalize()} error against {words}": error_figure(contest, quantity, against)
        for quantity in QUANTITIES
        for against, words in AGAINST.items()
    }
    calibrations = {
        f"Calibration of {quantity} at {count} modes": figure
        for quantity in QUANTITIES
        if (figure := calibration_figure(contest, quantity, count := most_modes(contest)))["data"][1:]
    }
    return errors | calibrations


def most_modes(contest: Contest) -> int:
    """The count of modes at which most methods were evaluated, the larger of two such."""
    counts = [row["profiled"] for row in contest.rows]
    return max(set(counts), key=lambda count: (counts.count(count), count))


def error_figure(contest: Contest, quantity: str, against: str) -> Figure:
    """Median over the repeats as a line, the worst repeat dotted above it; both axes logarithmic."""
    name = f"{quantity}_mape"
    traces = []
    for method, rows in contest.methods.items():
        traces.append(_line(method, rows, against, lambda row: row[name]))
        traces.append(_line(method, rows, against, lambda row: row.get(f"{name}_max"), worst=True))
    axes = layout(AGAINST[against], f"{quantity} MAPE, %", legend=LEGEND)
    for axis in ("xaxis", "yaxis"):
        axes[axis] |= {"type": "log"}
    return {"data": traces, "layout": axes}


def _line(
    method: str, rows: Sequence[Row], against: str, of: Callable[[Row], float | None], worst: bool = False
) -> Figure:
    role, mark = style(method)
    known = [row for row in rows if of(row) is not None and row.get(against) is not None]
    name = as_text(method)
    what = f"{name}, worst repeat" if worst else f"{name}, median"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "showlegend": not worst,
        "x": rounded([row[against] for row in known]),
        "y": rounded([of(row) for row in known]),
        "text": [f"{row['profiled']} modes" for row in known],
        "hovertemplate": f"{what}<br>%{{text}}: {PERCENT}<extra></extra>",
        "line": {"color": role, "width": 1 if worst else 2, "dash": "dot" if worst else "solid"},
        "marker": {"color": role, "size": 6 if worst else 8, "symbol": f"{mark}-open" if worst else mark},
    }


def calibration_figure(contest: Contest, quantity: str, count: int) -> Figure:
    """Share of true values inside the stated intervals; on the dashed line uncertainty is told as it is."""
    truth = {
        "type": "scatter", "mode": "lines", "name": "as stated", "x": [40, 100], "y": [40, 100],
        "hoverinfo": "skip", "line": {"color": "--muted", "width": 1, "dash": "dash"},
    }  # fmt: skip
    stated = [row for row in contest.rows if row["profiled"] == count]
    traces = [_calibration(row, quantity) for row in stated]
    axes = layout("stated, %", "found inside, %", legend=LEGEND)
    axes["xaxis"] |= {"range": [45, 100]}
    axes["yaxis"] |= {"range": [0, 103]}
    return {"data": [truth, *(trace for trace in traces if trace["x"])], "layout": axes}


def _calibration(row: Row, quantity: str) -> Figure:
    (role, mark), name = style(row["method"]), as_text(row["method"])
    found = {level: row.get(f"coverage{level}_{quantity}") for level in LEVELS}
    known = {level: share for level, share in found.items() if share is not None}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(known),
        "y": rounded(list(known.values())),
        "hovertemplate": f"{name}: %{{y:.3~g}} % inside the %{{x}} % intervals<extra></extra>",
        "line": {"color": role},
        "marker": {"color": role, "size": 8, "symbol": mark},
    }
