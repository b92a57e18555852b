"""What a measurement yields, and the arithmetic that gets it there. Formulas: docs/science.md."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from profiling.board.base import Reading
from profiling.knobs import Knobs

EXTRA_FIELDS = ("kind", "time_iqr_ms", "power_sd_mw", "window_start_s", "window_end_s", "phases_s", "why")


@dataclass(frozen=True)
class MeasuredRun:
    """One workload at one mode, measured. JSON-able by `as_dict`; unknown is None with a word in `unknowns`.

    knobs: None when the board's governor chose them (flag dvfs_on). time_ms: median of one minibatch, end
    to end; time_sd_ms, time_iqr_ms: its spread. power_mw: time-weighted mean of the module's power;
    energy_mj: of one minibatch. window_start_s, window_end_s: what was measured, in seconds of the
    telemetry's time_s. why: a sentence for each flag. phases_s: where the seconds went.
    telemetry: columns of equal length, units last, time_s first.
    """

    knobs: Knobs | None
    minibatch: int | None
    kind: str = "workload"
    time_ms: float | None = None
    time_sd_ms: float | None = None
    time_iqr_ms: float | None = None
    fetch_ms: float | None = None
    compute_ms: float | None = None
    power_mw: float | None = None
    power_sd_mw: float | None = None
    energy_mj: float | None = None
    minibatches: int = 0
    power_samples: int = 0
    flags: tuple[str, ...] = ()
    why: dict[str, str] = field(default_factory=dict)
    unknowns: dict[str, str] = field(default_factory=dict)
    window_start_s: float = 0.0
    window_end_s: float = 0.0
    phases_s: dict[str, float] = field(default_factory=dict)
    telemetry: dict[str, list[Any]] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    measured_at: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "flags": list(self.flags), "knobs": self.knobs and self.knobs._asdict()}

    def delivery(self) -> dict[str, Any]:
        """The body an agent delivers: `measured` and `telemetry`, as the server names their fields."""
        measured = self.as_dict()
        telemetry = measured.pop("telemetry")
        extra = {name: measured.pop(name) for name in EXTRA_FIELDS}
        for name in ("knobs", "minibatch"):
            del measured[name]
        return {"measured": {**measured, "extra": extra}, "telemetry": telemetry}


@dataclass(frozen=True)
class Power:
    """mean_mw and sd_mw are time-weighted over the window; samples counts distinct ones."""

    mean_mw: float | None
    sd_mw: float | None
    samples: int


def power_over(readings: Sequence[Reading], start_s: float, end_s: float, sensor_period_s: float) -> Power:
    """Power between start_s and end_s: a sample stands for the time since the one before it, as in
    "Characterizing training" section 4.5, E = Σ p(t_i) · (t_i - t_{i-1}), clipped to the window."""
    spans = list(_spans(readings, start_s, end_s))
    seconds = sum(span for span, _ in spans)
    inside = [r for r in readings if start_s <= r.time_s <= end_s and r.total_mw is not None]
    if seconds <= 0:
        return Power(None, None, 0)
    mean = sum(span * mw for span, mw in spans) / seconds
    variance = sum(span * (mw - mean) ** 2 for span, mw in spans) / seconds
    return Power(mean, variance**0.5, distinct(inside, sensor_period_s))


def _spans(readings: Sequence[Reading], start_s: float, end_s: float) -> Iterator[tuple[float, float]]:
    """(seconds, mW) of each known sample, clipped to the window."""
    previous = start_s
    for reading in readings:
        until = min(reading.time_s, end_s)
        if reading.total_mw is not None and until > previous:
            yield until - previous, reading.total_mw
        previous = max(previous, until)


def distinct(readings: Sequence[Reading], sensor_period_s: float) -> int:
    """How many samples are news: a sensor that averages 430 ms repeats itself when asked more often."""
    news: list[Reading] = []
    for reading in readings:
        if not news or (
            reading.time_s - news[-1].time_s >= sensor_period_s or reading.rails_mw != news[-1].rails_mw
        ):
            news.append(reading)
    return len(news)


def is_steady(power_mw: Sequence[float], tolerance: float) -> bool:
    """Whether the later half of the window agrees with the earlier one, as a share of the mean."""
    half = len(power_mw) // 2
    earlier, later = statistics.fmean(power_mw[:half]), statistics.fmean(power_mw[half:])
    return abs(later - earlier) <= tolerance * statistics.fmean(power_mw)


def quartile_range(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    low, high = np.percentile(values, [25, 75])
    return float(high - low)


def columns(readings: Sequence[Reading], began_s: float) -> dict[str, list[Any]]:
    """Telemetry in columns of equal length; None where a reading lacks what another has."""
    rows = [_row(reading, began_s) for reading in readings]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _row(reading: Reading, began_s: float) -> dict[str, Any]:
    row: dict[str, Any] = {"time_s": reading.time_s - began_s, "power_total_mw": reading.total_mw}
    row |= {f"power_{label.lower()}_mw": mw for label, mw in reading.rails_mw.items()}
    row |= {f"cpu{core}_khz": khz for core, khz in enumerate(reading.cpu_khz)}
    row |= {"gpu_khz": reading.gpu_khz, "mem_khz": reading.mem_khz}
    row |= {f"load_{name}_pct": percent for name, percent in reading.utilisation.items()}
    row |= {f"temp_{zone}_c": celsius for zone, celsius in reading.temperatures_c.items()}
    return {**row, "alarms": ", ".join(reading.alarms)}
