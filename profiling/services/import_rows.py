"""The good lines of a file as runs, whole columns at a time: what is unknown stays null, with its reason."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from django.utils import timezone
from numpy.typing import NDArray

from profiling.formats import Parsed
from profiling.knobs import KNOB_NAMES
from profiling.models import DeviceModel, Run, Upload
from profiling.services.import_extras import adopted, extra_json

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ROWS_AT_ONCE = 20_000  # a quarter of a second of writing, which is how long others may have to wait
MEASURED = ("time_ms", "power_mw", "energy_mj")
GIVEN = (*KNOB_NAMES, "minibatch", *MEASURED, "throughput_per_s")
WHOLE = (*KNOB_NAMES, "minibatch")
EMPTY = "empty in the file"
WORKED_OUT = {
    "minibatch": "the workload's; the file names none",
    "time_ms": "minibatch size / samples per second",
    "energy_mj": "time × power",
}
AS_JSON = ("flags", "unknowns", "extra", "provenance")
OFTEN_ALIKE = ("minibatch", "unknowns", "provenance")


class RunRows(NamedTuple):
    """Runs as columns of their table in the database: what differs, and what all of them share."""

    rows: pa.Table
    shared: dict[str, Any]


def whole_file_provenance(parsed: Parsed) -> dict[str, str]:
    """How the fields come about that the file has no column for, said once and not of each run."""
    return {name: how for name, how in WORKED_OUT.items() if name not in parsed.rows}


def parsed_rows(*, upload: Upload, parsed: Parsed) -> Iterator[RunRows]:
    """A run a line, some at a time, in the order of their modes: an index filled in its own order is
    written once, and not page by page all over."""
    shared, mode_ids = _shared(upload), _mode_ids(upload)
    ranks = _ranks(upload, parsed.rows)
    order = np.argsort(ranks, kind="stable")
    for start in range(0, len(order), ROWS_AT_ONCE):
        places = order[start : start + ROWS_AT_ONCE]
        rows, extras = parsed.rows.iloc[places], parsed.extras.iloc[places]
        columns = _measured(rows, upload, parsed.unknown)
        columns["power_mode_id"] = pa.array(mode_ids[ranks[places]], pa.int64(), from_pandas=True)
        found, kept = adopted(pa.Table.from_pandas(extras, preserve_index=False))
        if "emulated" in found:
            found["emulated"] = pc.or_(found["emulated"].fill_null(False), upload.emulated)
        columns |= {"line": pa.array(rows["line"].to_numpy()), "extra": extra_json(kept, len(rows)), **found}
        alike = {name: columns.pop(name)[0].as_py() for name in OFTEN_ALIKE if _is_one(columns[name])}
        others = {name: as_is for name, as_is in shared.items() if name not in columns}
        yield RunRows(pa.table(columns), others | _unpacked(alike))


def parsed_runs(*, upload: Upload, parsed: Parsed) -> Iterator[Run]:
    """The same as objects, unsaved, for the few that have more to them than a row."""
    for rows, shared in parsed_rows(upload=upload, parsed=parsed):
        for row in rows.to_pylist():
            yield Run(**shared | _unpacked(row))


def _is_one(column: pa.Array) -> bool:
    return len(column.unique()) == 1


def _unpacked(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(value) if name in AS_JSON else value for name, value in fields.items()}


def _shared(upload: Upload) -> dict[str, Any]:
    return {
        "workload_id": upload.workload_id,
        "device_model_id": upload.device_model_id,
        "device_id": upload.device_id,
        "upload_id": upload.pk,
        "state": Run.State.COMPLETE.value,
        "emulated": upload.emulated,
        "flags": [],
        "attempts": 0,
        "failure": "",
        "correction": "",
        "created": timezone.now(),
    }


def _given(rows: pd.DataFrame) -> dict[str, FloatArray]:
    """Every field (n,), NaN where it is unknown."""
    nothing = np.full(len(rows), np.nan)
    return {
        name: rows[name].to_numpy(dtype=np.float64, na_value=np.nan) if name in rows else nothing
        for name in GIVEN
    }


def _ranks(upload: Upload, rows: pd.DataFrame) -> NDArray[np.int64]:
    """The place of each row's mode among its board's (n,), -1 where a knob is unknown."""
    assert upload.device_model is not None  # upload_receive asks for it
    if any(name not in rows for name in KNOB_NAMES):
        return np.full(len(rows), -1)
    knobs = [rows[name].to_numpy(dtype=np.int64, na_value=-1) for name in KNOB_NAMES]
    return upload.device_model.ranges.ranks(np.stack(knobs, axis=1))


def _measured(rows: pd.DataFrame, upload: Upload, unknown: Mapping[str, str]) -> dict[str, pa.Array]:
    workload = upload.workload
    assert workload is not None  # upload_receive asks for it
    given = _given(rows)
    fields = dict(given)
    throughput = fields.pop("throughput_per_s")
    fields["minibatch"] = np.where(np.isnan(given["minibatch"]), workload.minibatch, given["minibatch"])
    fields["time_ms"] = _else(given["time_ms"], 1000 * fields["minibatch"] / throughput)
    fields["energy_mj"] = _else(given["energy_mj"], fields["time_ms"] * fields["power_mw"] / 1000)
    why_known = {
        name: (how, np.isnan(given[name]) & ~np.isnan(fields[name]))
        for name, how in WORKED_OUT.items()
        if name in rows
    }
    why_unknown = {name: (unknown.get(name, EMPTY), np.isnan(values)) for name, values in fields.items()}
    columns = {
        name: pa.array(values, pa.int64() if name in WHOLE else pa.float64(), from_pandas=True)
        for name, values in fields.items()
    }
    return columns | {
        "provenance": _reasons(why_known, len(rows)),
        "unknowns": _reasons(why_unknown, len(rows)),
    }


def _else(values: FloatArray, others: FloatArray) -> FloatArray:
    return np.where(np.isnan(values), others, values)


def _reasons(why: dict[str, tuple[str, BoolArray]], count: int) -> pa.Array:
    """The reasons that hold in each row as JSON (count,). why: field → reason, where it holds (count,)."""
    codes = np.zeros(count, dtype=np.int64)
    for place, (_, holds) in enumerate(why.values()):
        codes |= holds.astype(np.int64) << place
    distinct, places = np.unique(codes, return_inverse=True)
    texts = [
        json.dumps({name: why[name][0] for bit, name in enumerate(why) if code >> bit & 1})
        for code in distinct.tolist()
    ]
    return pa.array(texts, pa.string()).take(pa.array(places))


def _mode_ids(upload: Upload) -> FloatArray:
    """The stored mode of each rank (modes + 1,), NaN where there is none, as of rank -1: no legal mode.

    Ranks are counted anew: a board's steps may have been edited since its modes were stored.
    """
    board: DeviceModel | None = upload.device_model
    assert board is not None
    ids = np.full(board.mode_count + 1, np.nan)
    stored = np.array(list(board.power_modes.values_list(*KNOB_NAMES, "pk")), dtype=np.int64).reshape(-1, 5)
    ranks = board.ranges.ranks(stored[:, :4])
    ids[ranks[ranks >= 0]] = stored[ranks >= 0, 4]
    return ids
