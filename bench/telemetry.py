"""An hour of telemetry, 10 Hz and 30 channels: bytes a value, and milliseconds to store, read and thin it.

    python -m bench.telemetry [--json]

Made up to be hard to pack: power with white noise of 300 mW in steps of 1 mW, loads that jump, temperatures
that drift, clocks that switch between two steps. Medians of seven, after a first that is not counted.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.report import show
from profiling.telemetry import TIME, pack, thinned, unpack

ROWS, TIMES = 36_000, 7


def made_up() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(3)
    columns = {TIME: np.arange(ROWS) / 10 + draw.normal(0, 1e-3, ROWS).clip(-0.04, 0.04)}
    columns[TIME] -= columns[TIME][0]
    columns |= {f"power_rail{n}_mw": 9000 + draw.normal(0, 300, ROWS).round() for n in range(10)}
    columns |= {f"load_cpu{n}_pct": draw.integers(0, 101, ROWS) for n in range(8)}
    columns |= {
        f"temp_zone{n}_c": 50 + (draw.normal(0, 0.02, ROWS).cumsum() * 4).round() / 4 for n in range(5)
    }
    columns |= {f"cpu{n}_khz": draw.choice([1_190_400, 2_201_600], ROWS) for n in range(6)}
    return columns


def milliseconds(work: Callable[[], Any]) -> float:
    work()
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took)


def read_thinned(parquet: bytes) -> None:
    columns = unpack(parquet)
    for values in columns.values():
        thinned(columns[TIME], values)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    columns = made_up()
    chunk = pack(columns)
    found = {
        "values": float(len(columns) * ROWS),
        "bytes_a_value": len(chunk.parquet) / (len(columns) * ROWS),
        "pack_ms": milliseconds(lambda: pack(columns)),
        "read_ms": milliseconds(lambda: unpack(chunk.parquet)),
        "read_and_thin_ms": milliseconds(lambda: read_thinned(chunk.parquet)),
    }
    show(found, asked.json)


if __name__ == "__main__":
    main()
