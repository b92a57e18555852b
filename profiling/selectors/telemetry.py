from math import isfinite
from typing import Any

import numpy as np

from profiling.models import Run
from profiling.telemetry import TIME, thinned, unpack


def run_telemetry(*, run: Run, points: int = 2000) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each numeric channel of a run as (time_s, values), thinned to at most `points` without losing peaks."""
    while run.revises is not None and not run.telemetry.exists():  # a correction changes no sample
        run = run.revises
    chunks = [unpack(bytes(chunk.parquet)) for chunk in run.telemetry.order_by("sequence")]
    names = list(dict.fromkeys(name for chunk in chunks for name in chunk if name != TIME))
    return {name: thinned(*channel(chunks, name), points) for name in names if numeric(chunks, name)}


def telemetry_columns(*, run: Run, points: int) -> dict[str, dict[str, list[float | None]]]:
    """The same as plain numbers: channel → its own time_s and values, None where a sensor said nothing."""
    return {
        name: {"time_s": time_s.tolist(), "values": [v if isfinite(v) else None for v in values.tolist()]}
        for name, (time_s, values) in run_telemetry(run=run, points=points).items()
    }


def numeric(chunks: list[dict[str, Any]], name: str) -> bool:
    return all(isinstance(chunk[name], np.ndarray) for chunk in chunks if name in chunk)


def channel(chunks: list[dict[str, Any]], name: str) -> tuple[np.ndarray, np.ndarray]:
    having = [chunk for chunk in chunks if name in chunk]
    return np.concatenate([c[TIME] for c in having]), np.concatenate([c[name] for c in having])
