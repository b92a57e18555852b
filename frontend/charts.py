"""Data in, Plotly figures out: plain dicts. A colour such as "--measured" is resolved by the page's theme."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from modeling.answers import PlanAnswer, PlanQuestion
from modeling.selectors.charts import PlanChartData
from modeling.selectors.landscape import Landscape
from modeling.stock import stock_modes
from profiling.knobs import KNOB_NAMES, Knobs

Figure = dict[str, Any]
# What a telemetry channel's name holds, the figure it belongs to, and its unit in units of the figure's.
FAMILIES = (
    ("power_", "Power, W", 1000),
    ("_khz", "Clocks, MHz", 1000),
    ("load_", "Loads, %", 1),
    ("temp_", "Temperatures, °C", 1),
)
OTHER = ("", "Other", 1)
LINE_ROLES = ("--measured", "--front", "--stock", "--chosen", "--emulated", "--muted", "--accent", "--warn")


def rounded(values: Any, digits: int = 4) -> list[float | None]:
    """To significant digits, so that the page carries no more than the eye can see."""
    numbers = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.abs(numbers))))
        shown = np.where(np.isfinite(scale), np.round(numbers * scale) / scale, numbers)
    return [None if value != value else value for value in shown.tolist()]


def as_text(words: str) -> str:
    """Plotly reads tags in every text, so that a name somebody gave might be a link to anywhere."""
    return words.replace("&", "&amp;").replace("<", "&lt;")


def layout(x: str, y: str, **more: Any) -> Figure:
    return {
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}},
        "margin": {"l": 64, "r": 16, "t": 16, "b": 48},
        "hovermode": "closest",
        **more,
    }


def family_of(channel: str) -> tuple[str, str, int]:
    return next((family for family in FAMILIES if family[0] in channel), OTHER)


def channel_words(channel: str) -> str:
    """power_vdd_gpu_soc_mw -> vdd gpu soc; the unit stands at the axis."""
    words = channel.removeprefix("power_").removeprefix("load_").removeprefix("temp_")
    for unit in ("_mw", "_khz", "_pct", "_c"):
        words = words.removesuffix(unit)
    return words.replace("_", " ")


def telemetry_figures(
    channels: Mapping[str, tuple[np.ndarray, np.ndarray]], window: tuple[float, float] | None = None
) -> dict[str, Figure]:
    """One figure for each kind of channel, time in seconds since the run began, the measured window shaded.
    A channel of which nothing is known is left out."""
    families: dict[tuple[str, str, int], list[str]] = {}
    for name, (_, values) in channels.items():
        if np.isfinite(values).any():
            families.setdefault(family_of(name), []).append(name)
    ordered = sorted(families, key=lambda family: [*FAMILIES, OTHER].index(family))
    return {family[1]: _over_time(family, families[family], channels, window) for family in ordered}


def _over_time(
    family: tuple[str, str, int],
    names: list[str],
    channels: Mapping[str, tuple[np.ndarray, np.ndarray]],
    window: tuple[float, float] | None,
) -> Figure:
    _, title, divisor = family
    lines = [
        _line(channel_words(name), channels[name][0], channels[name][1] / divisor, place)
        for place, name in enumerate(names)
    ]
    shade = [_shade(*window)] if window else []
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    return {"data": lines, "layout": layout("time since start, s", title, legend=legend, shapes=shade)}


def _shade(start_s: float, end_s: float) -> Figure:
    return {
        "type": "rect",
        "layer": "below",
        "yref": "paper",
        "x0": start_s,
        "x1": end_s,
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "fillcolor": "--tint",
    }


def _line(name: str, time_s: np.ndarray, values: np.ndarray, place: int) -> Figure:
    """Once every colour is taken, lines are dashed, then dotted."""
    again, role = divmod(place, len(LINE_ROLES))
    return {
        "type": "scatter",
        "mode": "lines",
        "name": as_text(name),
        "x": rounded(time_s, 6),
        "y": rounded(values),
        "line": {"color": LINE_ROLES[role], "width": 1.5, "dash": ("solid", "dash", "dot")[min(again, 2)]},
    }


def sweep_figure(points: Sequence[tuple[Any, ...]]) -> Figure:
    """Time against power of a sweep's complete runs; flagged ones hollow, each run on its own address."""
    clean = [point for point in points if not point[-1]]
    flagged = [point for point in points if point[-1]]
    axes = layout("power, W", "time of a minibatch, ms", showlegend=bool(flagged))
    axes["yaxis"]["type"] = "log"
    return {
        "data": [
            _cloud("measured", clean, {"color": "--measured", "size": 8}),
            _cloud("flagged", flagged, {"color": "--warn", "size": 8, "symbol": "circle-open"}),
        ],
        "layout": axes | {"uirevision": "kept"},
    }


def _cloud(name: str, points: Sequence[tuple[Any, ...]], marker: Figure) -> Figure:
    return {
        "type": "scatter",  # WebGL would need a laxer policy, and a sweep has hundreds of modes at most
        "mode": "markers",
        "name": name,
        "x": rounded([point[6] / 1000 for point in points]),
        "y": rounded([point[5] for point in points]),
        "text": [f"run {point[0]}: {Knobs(*point[1:5])}" for point in points],
        "hovertemplate": "%{text}<br>%{y} ms, %{x} W<extra></extra>",
        "marker": marker,
    }


MEASURED, FRONT = 1, 2


def plan_columns(data: PlanChartData) -> bytes:
    """Row i is the mode of rank i: float32 time_ms, power_mw, time_log_sd and power_log_sd (NaN where not
    known) one after the other, then a byte of flags for each mode."""
    unknown = np.full(len(data.time_ms), np.nan)
    columns = (data.time_ms, data.power_mw, data.time_log_sd, data.power_log_sd)
    numbers = [np.asarray(unknown if each is None else each, dtype="<f4").tobytes() for each in columns]
    flags = np.where(data.measured, MEASURED, 0).astype(np.uint8)
    flags[data.front] |= FRONT
    return b"".join(numbers) + flags.tobytes()


def plan_rows(data: PlanChartData) -> Iterator[list[Any]]:
    """The plot's modes as lines of a table, its head first; an unknown is an empty cell."""
    numbers = ("time_ms", "power_mw", "energy_mj", "time_log_sd", "power_log_sd")
    columns = [
        rounded(values, 6) for values in (getattr(data, name) for name in numbers) if values is not None
    ]
    known = [name for name in numbers if getattr(data, name) is not None]
    measured = "emulated" if data.emulated else "measured"
    yield [*KNOB_NAMES, "minibatch", *known, "origin"]
    origins = [measured if each else "predicted" for each in data.measured]
    for knobs, origin, *values in zip(data.knobs.tolist(), origins, *columns, strict=True):
        yield [*knobs, data.minibatch, *values, origin]


def plan_marks(land: Landscape, answer: PlanAnswer) -> dict[str, Any]:
    """What the planner's plot marks, and how to read its columns."""
    board, asked, minibatch = land.device_model, answer.question, answer.mode.minibatch
    return {
        "version": f"{land.prediction_set.pk}-{int(land.measured.sum())}",
        "predictor": land.prediction_set.predictor_id,
        "minibatch": minibatch,
        "count": land.prediction_set.mode_count,
        "ranges": {name: getattr(board, name) for name in KNOB_NAMES},
        "stock": [{"name": each.name, "rank": each.rank} for each in stock_modes(board)],
        "chosen": answer.mode.rank,
        "feasible": answer.feasible,
        "beyond": answer.nearest_beyond.rank if answer.nearest_beyond else None,
        "emulated": land.emulated,
        "risk": asked.risk,
        "allowed": {name: list(ends) for name, ends in asked.allowed.items()},
        "ceilings": _minibatch_ceilings(land, asked, minibatch),
    }


def _minibatch_ceilings(land: Landscape, asked: PlanQuestion, minibatch: int) -> dict[str, list[float]]:
    """Every ceiling per minibatch, since that is what the plot shows."""
    samples = land.workload.samples_per_epoch
    epochs = 1000 / -(-samples // minibatch) if samples else None
    given = {
        "power_mw": [asked.power_mw],
        "time_ms": [asked.time_ms, asked.epoch_s and epochs and asked.epoch_s * epochs],
        "energy_mj": [asked.energy_mj, asked.epoch_energy_j and epochs and asked.epoch_energy_j * epochs],
    }
    return {name: [limit for limit in limits if limit] for name, limits in given.items()}
