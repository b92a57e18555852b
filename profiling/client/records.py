"""What the lab answers, typed. `raw` holds the whole answer, also what a newer lab says beyond these."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class Record:
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Self:
        return cls(raw, **{each.name: raw.get(each.name) for each in fields(cls) if each.name != "raw"})


@dataclass(frozen=True)
class Workload(Record):
    slug: str
    name: str
    kind: str
    network: str
    minibatch: int


@dataclass(frozen=True)
class Run(Record):
    """time_ms of one minibatch, power_mw of the module, energy_mj of one minibatch; None is unknown."""

    id: int
    workload: str
    device_model: str
    state: str
    emulated: bool
    cores: int | None
    cpu_khz: int | None
    gpu_khz: int | None
    mem_khz: int | None
    minibatch: int
    time_ms: float | None
    power_mw: float | None
    energy_mj: float | None
    flags: list[str]
    unknowns: dict[str, str]


@dataclass(frozen=True)
class Upload(Record):
    """state: mapping and choosing wait for you; done, rejected, undone and failed are the end."""

    id: int
    filename: str
    state: str
    rows_total: int | None
    rows_done: int
    rows_imported: int | None
    problem_count: int
    failure: str

    @property
    def under_way(self) -> bool:
        return self.state in ("received", "reading", "importing")


@dataclass(frozen=True)
class Predictor(Record):
    id: int
    workload: str
    device_model: str
    method: str
    state: str
    failure: str
    steps_done: int | None
    steps_total: int | None
    emulated: bool


@dataclass(frozen=True)
class Plan(Record):
    """The answer of the planner: `mode` is the choice, or where not feasible the one that comes closest."""

    id: int | None
    feasible: bool
    mode: Mapping[str, Any]
    question: Mapping[str, Any]
