"""Runs to take away: exactly what is filtered, a page of them at a time, with where they came from."""

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

import profiling
from profiling.models import Run
from profiling.writers import FORMATS, Page, zipped

PAGE = 5000
RULE = "Runs that a correction revises are left out, unless state=superseded is asked for."


class Column(NamedTuple):
    kind: type
    source: str
    meaning: str


COLUMNS: dict[str, Column] = {
    "id": Column(int, "id", "permanent number of the run"),
    "workload": Column(str, "workload__slug", "what was run"),
    "kind": Column(str, "workload__kind", "training or inference"),
    "device_model": Column(str, "device_model__slug", "what it was run on"),
    "device": Column(str, "device__slug", "which board, where known"),
    "state": Column(str, "state", "complete is a measurement"),
    "emulated": Column(bool, "emulated", "true: the numbers come from an emulated board"),
    "cores": Column(int, "cores", "CPU cores online"),
    "cpu_khz": Column(int, "cpu_khz", "CPU clock, kHz"),
    "gpu_khz": Column(int, "gpu_khz", "GPU clock, kHz"),
    "mem_khz": Column(int, "mem_khz", "memory clock, kHz"),
    "minibatch": Column(int, "minibatch", "samples per minibatch"),
    "time_ms": Column(float, "time_ms", "median time of one minibatch, ms"),
    "time_sd_ms": Column(float, "time_sd_ms", "standard deviation of that time, ms"),
    "fetch_ms": Column(float, "fetch_ms", "median wait for data, ms"),
    "compute_ms": Column(float, "compute_ms", "median time of computing, ms"),
    "power_mw": Column(float, "power_mw", "time-weighted mean of the module's power, mW"),
    "energy_mj": Column(float, "energy_mj", "energy of one minibatch, mJ"),
    "minibatches": Column(int, "minibatches", "clean minibatches measured"),
    "power_samples": Column(int, "power_samples", "distinct power samples"),
    "flags": Column(str, "flags", "quality flags"),
    "unknowns": Column(dict, "unknowns", "field and why it is not known"),
    "extra": Column(dict, "extra", "fields of the source that have no column"),
    "measured_at": Column(datetime, "measured_at", "when it was measured, UTC"),
    "created": Column(datetime, "created", "when it came in, UTC"),
    "sweep": Column(int, "sweep_id", "the sweep it belongs to"),
    "file": Column(str, "upload__filename", "the file it was imported from"),
    "file_sha256": Column(str, "upload__sha256", "that file's hash"),
    "line": Column(int, "line", "its line in that file"),
    "revises": Column(int, "revises_id", "the run it corrects"),
    "corrected_by": Column(str, "corrected_by__username", "who corrected it"),
    "correction": Column(str, "correction", "why"),
    "failure": Column(str, "failure", "why it failed"),
}
KINDS = {name: column.kind for name, column in COLUMNS.items()}
FLAGS_PLACE = list(COLUMNS).index("flags")
AS_TEXT = {"flags", "unknowns", "extra"}  # parsing and writing JSON again would cost most of the time


def export_pages(runs: QuerySet[Run]) -> Iterator[Page]:
    """Newest first, each page its own short query, so that no reader holds up a writer. Pages by columns."""
    texts = {f"{name}_text": Cast(name, TextField()) for name in sorted(AS_TEXT)}
    sources = [f"{name}_text" if name in AS_TEXT else c.source for name, c in COLUMNS.items()]
    rows = runs.select_related(None).defer(None).order_by("-id").annotate(**texts).values_list(*sources)
    page = list(rows[:PAGE])
    while page:
        columns = list(zip(*page, strict=True))
        columns[FLAGS_PLACE] = tuple(map(_plain_flags, columns[FLAGS_PLACE]))
        yield columns
        page = list(rows.filter(id__lt=page[-1][0])[:PAGE])


@lru_cache(maxsize=1024)
def _plain_flags(flags: str) -> str:
    return " ".join(json.loads(flags))


@dataclass
class Export:
    """The bytes of an export, counted and hashed as they go by. Read `provenance` when they have gone."""

    runs: QuerySet[Run]
    format: str = "csv"
    filters: Mapping[str, Any] = field(default_factory=dict)
    asked_by: str = ""
    row_count: int = 0
    byte_count: int = 0

    def __post_init__(self) -> None:
        self.started = timezone.now()
        self.content_type, self.writer = FORMATS[self.format]
        self.hash = hashlib.sha256()

    def pieces(self, seen: Callable[[list[int]], None] | None = None) -> Iterator[bytes]:
        """seen: told the ids of each page."""
        for piece in self.writer(KINDS, self._counted(seen)):
            self.hash.update(piece)
            self.byte_count += len(piece)
            yield piece

    def package(self, stem: str = "runs") -> Iterator[bytes]:
        """A zip of the export and its provenance."""
        sidecar = f"{stem}.provenance.json"
        return zipped(f"{stem}.{self.format}", self.pieces(), lambda: {sidecar: self.sidecar()})

    def sidecar(self) -> bytes:
        return json.dumps(self.provenance(), indent=1, ensure_ascii=False).encode()

    def provenance(self) -> dict[str, Any]:
        return {
            "what": "runs: workloads measured at power modes",
            "filters": dict(self.filters),
            "rule": RULE,
            "exported": self.started.isoformat(),
            "exported_by": self.asked_by,
            "software": {"jetsonlab": profiling.__version__, "python": platform.python_version()},
            "format": self.format,
            "rows": self.row_count,
            "bytes": self.byte_count,
            "sha256": self.hash.hexdigest(),
            "columns": {name: column.meaning for name, column in COLUMNS.items()},
        }

    def _counted(self, seen: Callable[[list[int]], None] | None) -> Iterator[Page]:
        for page in export_pages(self.runs):
            ids = list(page[0])
            self.row_count += len(ids)
            if seen:
                seen(ids)
            yield page
