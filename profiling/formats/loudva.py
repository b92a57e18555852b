"""LoudVA-like tables: inference on Triton by GPU clock or stock mode; the other knobs are nowhere stated.

`value` is a GPU clock in Hz where `kind` is freq, else the number of a stock nvpmodel mode. Concurrency is
how many clients asked at once: it is no minibatch size, and the latencies include their queueing.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from profiling.formats import csv_rows
from profiling.formats.batches import Batch, Rows
from profiling.formats.format import table_format
from profiling.formats.mapping import Column
from profiling.formats.problems import Problem
from profiling.formats.source import Source

NEEDED = {"device", "value", "kind", "Concurrency"}
SATURATED = 50  # from so many clients on, the source's own authors discard the figures
KNOWN = {
    "gpu_khz": Column("gpu_hz", "Hz"),
    "throughput_per_s": Column("Inferences/Second", ""),
    "power_mw": Column("mean_power_mW", "mW"),
}
NOT_STATED = "the table names only the GPU clock or the stock mode"
MISSING = {
    "cores": NOT_STATED,
    "cpu_khz": NOT_STATED,
    "mem_khz": NOT_STATED,
    "minibatch": "the table names client concurrency, which is no minibatch size",
    "time_ms": "the latencies include queueing among the clients; see samples per second",
}


def recognises(source: Source) -> bool:
    first = source.head.split(b"\n", 1)[0].decode(errors="replace").strip()
    return set(first.split(",")) >= NEEDED


def read_rows(source: Source) -> Rows:
    rows = csv_rows.read_rows(source)
    header = tuple(name for name in rows.header if name != "value")
    known = {name: column for name, column in KNOWN.items() if column.column in (*header, "gpu_hz")}
    return replace(
        rows,
        header=(*header, "gpu_hz", "stock_mode"),
        batches=_split_value(rows.batches),
        known=known,
        missing=MISSING,
    )


def _split_value(batches: Iterator[Batch]) -> Iterator[Batch]:
    """`value` as gpu_hz or stock_mode, whichever it is."""
    for batch in batches:
        columns = dict(batch.columns)
        value, kind = columns.pop("value"), pc.utf8_lower(columns["kind"])
        for name, word in (("gpu_hz", "freq"), ("stock_mode", "mode")):
            columns[name] = pc.if_else(pc.equal(kind, word), value, pa.scalar("", pa.string()))
        yield replace(batch, columns=columns, notes=_saturated(batch))


def _saturated(batch: Batch) -> list[Problem]:
    concurrency = [int(text) if text.isdecimal() else 0 for text in batch.columns["Concurrency"].to_pylist()]
    many = np.flatnonzero(np.array(concurrency, dtype=float) >= SATURATED)
    if not len(many):
        return []
    reason = (
        f"{SATURATED} clients or more in {len(many):,} rows of the file: beyond what the table's authors use"
    )
    return [Problem(int(batch.lines[many[0]]), "Concurrency", str(concurrency[many[0]]), reason)]


FORMAT = table_format("loudva", "LoudVA table (GPU clock and client concurrency)", recognises, read_rows)
