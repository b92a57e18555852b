from math import isfinite

import numpy as np

from profiling.models import Run
from profiling.telemetry import TIME, Packed, thinned


def run_telemetry(*, run: Run, points: int = 2000) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each numeric channel of a run as (time_s, values), thinned to at most `points` without losing peaks.

    One channel is unpacked at a time: all of a long log would fill a web process.
    """
    while run.revises is not None and not run.telemetry.exists():  # a correction changes no sample
        run = run.revises
    chunks = [Packed(bytes(chunk.parquet)) for chunk in run.telemetry.order_by("sequence")]
    times = {chunk: chunk[TIME] for chunk in chunks}
    names = dict.fromkeys(name for chunk in chunks for name in chunk.numeric if name != TIME)
    having = {name: [chunk for chunk in chunks if name in chunk.numeric] for name in names}
    return {
        name: thinned(*joined([(times[chunk], chunk[name]) for chunk in some]), points)
        for name, some in having.items()
        if all(chunk.numeric[name] for chunk in some)
    }


def telemetry_columns(*, run: Run, points: int) -> dict[str, dict[str, list[float | None]]]:
    """The same as plain numbers: channel → its own time_s and values, None where a sensor said nothing."""
    return {
        name: {"time_s": time_s.tolist(), "values": [v if isfinite(v) else None for v in values.tolist()]}
        for name, (time_s, values) in run_telemetry(run=run, points=points).items()
    }


def joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    time_s, values = zip(*parts, strict=True)
    return np.concatenate(time_s), np.concatenate(values)
