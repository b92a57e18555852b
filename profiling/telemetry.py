"""Telemetry as compressed Parquet: columns of numbers in, a chunk of bytes out, and back. No Django."""

import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Channel: TypeAlias = (
    FloatArray | pa.Array | Sequence[Any]
)  # numbers, text as Arrow keeps it, or either as it comes
TIME = "time_s"
# Sensors step by far more than this, so nothing they said is lost: 1 µs of time, 0.01 in any other unit.
STEP = 0.01
STEPS = {"_s": 1e-6, "_ms": 1e-3}
LARGEST = 2.0**62  # steps, as they are kept in 64 bits


class TelemetryError(ValueError):
    """Columns that cannot be telemetry."""


class Chunk(NamedTuple):
    start_s: float
    end_s: float
    rows: int
    columns: list[str]
    parquet: bytes


def pack(columns: Mapping[str, Channel]) -> Chunk:
    """Columns of equal length, `time_s` ascending among them; None or NaN is unknown and stays so.

    Numbers are kept as multiples of STEP in delta-encoded integers, text as dictionaries.
    Raises TelemetryError naming the column.
    """
    check(columns)
    table = pa.table({name: column_array(name, values) for name, values in columns.items()})
    encodings = {
        field.name: "DELTA_BINARY_PACKED" for field in table.schema if pa.types.is_integer(field.type)
    }
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=3,
        use_dictionary=[f.name for f in table.schema if not pa.types.is_integer(f.type)],
        column_encoding=encodings,
        write_statistics=False,
        store_schema=False,
    )
    time_s = columns[TIME]
    return Chunk(float(time_s[0]), float(time_s[-1]), len(time_s), list(columns), sink.getvalue())


def check(columns: Mapping[str, Channel]) -> None:
    if TIME not in columns or not len(columns[TIME]):
        raise TelemetryError(f"telemetry needs a column {TIME} with at least one row")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise TelemetryError(f"telemetry columns differ in length: {lengths}")
    time_s = as_numbers(TIME, columns[TIME])
    if not np.all(np.isfinite(time_s)) or np.any(np.diff(time_s) < 0):
        raise TelemetryError(f"{TIME} must be finite and never go back")


def column_array(name: str, values: Channel) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    if not isinstance(values, np.ndarray) and any(isinstance(value, str) for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    numbers = as_numbers(name, values)
    if np.any(np.isinf(numbers)):
        raise TelemetryError(f"{name} holds an infinite value")
    unknown = np.isnan(numbers)
    steps = np.round(np.where(unknown, 0, numbers) / step_of(name))
    if np.any(np.abs(steps) > LARGEST):
        raise TelemetryError(f"{name} holds a value too large for any sensor")
    return pa.array(steps.astype(np.int64), mask=unknown)


def as_numbers(name: str, values: FloatArray | Sequence[Any]) -> FloatArray:
    """Shape (n,), NaN for None. Raises TelemetryError where a value is no number."""
    if isinstance(values, np.ndarray):
        return values
    try:
        numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TelemetryError(f"{name} holds something else than numbers: {error}") from error
    if numbers.ndim != 1:
        raise TelemetryError(f"{name} holds lists; a column holds a number for each moment")
    return numbers


def step_of(name: str) -> float:
    return STEPS.get(f"_{name.rpartition('_')[2]}", STEP)


class Packed:
    """A chunk of bytes opened, to take single columns out of it. numeric: name → whether it holds numbers."""

    def __init__(self, parquet: bytes) -> None:
        self._file = pq.ParquetFile(io.BytesIO(parquet))
        self.numeric = {field.name: pa.types.is_integer(field.type) for field in self._file.schema_arrow}

    def __getitem__(self, name: str) -> Any:
        return column_values(name, self._file.read([name], use_threads=False)[name])


def unpack(parquet: bytes, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Columns by name: float arrays with NaN for unknown, or lists of text."""
    packed = Packed(parquet)
    return {name: packed[name] for name in (packed.numeric if names is None else names)}


def column_values(name: str, column: pa.ChunkedArray) -> Any:
    if not pa.types.is_integer(column.type):
        return column.to_pylist()
    return column.to_numpy().astype(float) * step_of(name)


def thinned(time_s: FloatArray, values: FloatArray, points: int = 2000) -> tuple[FloatArray, FloatArray]:
    """At most `points` of a curve, keeping the lowest and highest value of each stretch, so that no peak
    is lost; time_s and values shape (n,)."""
    count = len(time_s)
    if count <= points:
        return time_s, values
    size = -(-count // (points // 2))
    padded = np.append(values, np.full(-count % size, np.nan)).reshape(-1, size)
    unknown = np.isnan(padded)
    lowest = np.where(unknown, np.inf, padded).argmin(axis=1)
    highest = np.where(unknown, -np.inf, padded).argmax(axis=1)
    keep = np.unique((np.arange(len(padded)) * size) + np.stack([lowest, highest]))
    return time_s[keep], values[keep]
