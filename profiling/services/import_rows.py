"""The good lines of a file as runs: what is not known stays null, with its reason."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pandas as pd

from profiling.flags import FLAGS
from profiling.formats import Parsed
from profiling.knobs import KNOB_NAMES
from profiling.models import DeviceModel, Run, Upload

MEASURED = ("time_ms", "power_mw", "energy_mj")
EMPTY = "empty in the file"


def parsed_runs(*, upload: Upload, parsed: Parsed) -> Iterator[Run]:
    """One staged run a line."""
    workload, board = upload.workload, upload.device_model
    assert workload is not None  # upload_receive asks for both
    assert board is not None
    modes = _mode_ids(board)
    for facts, extra in zip(_facts(parsed.rows), _facts(parsed.extras), strict=True):
        knobs = tuple(facts.get(name) for name in KNOB_NAMES)
        yield Run(
            workload=workload,
            device_model=board,
            device_id=upload.device_id,
            state=Run.State.STAGED,
            emulated=upload.emulated,
            upload=upload,
            line=facts["line"],
            power_mode_id=modes.get(knobs),
            **_measured(facts, workload.minibatch, parsed.unknown),
            **adopted({name: value for name, value in extra.items() if value not in (None, "")}),
        )


def _measured(facts: dict[str, Any], minibatch: int, unknown: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: facts.get(name) for name in (*KNOB_NAMES, *MEASURED)}
    fields["minibatch"] = facts.get("minibatch") or minibatch
    provenance = {}
    if "minibatch" not in facts:
        provenance["minibatch"] = "the workload's; the file names none"
    if fields["time_ms"] is None and (throughput := facts.get("throughput_per_s")):
        fields["time_ms"] = 1000 * fields["minibatch"] / throughput
        provenance["time_ms"] = "minibatch size / samples per second"
    if fields["energy_mj"] is None and fields["time_ms"] is not None and fields["power_mw"] is not None:
        fields["energy_mj"] = fields["time_ms"] * fields["power_mw"] / 1000
        provenance["energy_mj"] = "time × power"
    unknowns = {name: unknown.get(name, EMPTY) for name, value in fields.items() if value is None}
    return {**fields, "provenance": provenance, "unknowns": unknowns}


def adopted(extra: dict[str, Any]) -> dict[str, Any]:
    """Further fields of a run that columns are named after; what does not read as one stays in `extra`."""
    found: dict[str, Any] = {}
    for name, read in READERS.items():
        if name in extra and (value := read(str(extra[name]))) is not None:
            found[name] = value
    return {**found, "extra": {name: value for name, value in extra.items() if name not in found}}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _count(text: str) -> int | None:
    value = _number(text)
    return int(value) if value is not None and value.is_integer() and value < 2**31 else None


def _flags(text: str) -> list[str] | None:
    """ "throttled, hot", or as JSON writes it; None when it holds anything else."""
    words = re.findall(r"\w+", text)
    return words if all(word in FLAGS for word in words) else None


def _moment(text: str) -> datetime | None:
    """A date and time with its zone; without one it could be any of 24 hours."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("time_sd_ms", "fetch_ms", "compute_ms"), _number),
    **dict.fromkeys(("minibatches", "power_samples"), _count),
    "flags": _flags,
    "measured_at": _moment,
}


def _mode_ids(device_model: DeviceModel) -> dict[tuple[int | None, ...], int]:
    rows = device_model.power_modes.values_list(*KNOB_NAMES, "pk")
    return {(cores, cpu, gpu, mem): pk for cores, cpu, gpu, mem, pk in rows.iterator()}


def _facts(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Each row as plain Python values, None where unknown."""
    names = [str(name) for name in table.columns]
    columns = [column.astype(object).where(column.notna(), None).tolist() for _, column in table.items()]
    if not columns:
        return ({} for _ in range(len(table)))
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
