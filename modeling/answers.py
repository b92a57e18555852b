"""The question a plan answers, and the answer: what pages show, the API returns and a saved Plan keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from profiling.knobs import Knobs

ANY_MINIBATCH = "any"


@dataclass(frozen=True, kw_only=True)
class PlanQuestion:
    """Ceilings (None is no ceiling), the risk accepted of breaking them, and what is best.

    power_mw: mean. time_ms, energy_mj: of a minibatch. epoch_s, epoch_energy_j: of an epoch.
    allowed: knob name -> (lowest, highest) allowed, None for an open end.
    minibatch: None is the workload's own, "any" lets all predicted sizes compete by time per sample.
    """

    power_mw: float | None = None
    time_ms: float | None = None
    energy_mj: float | None = None
    epoch_s: float | None = None
    epoch_energy_j: float | None = None
    risk: float = 0.05
    objective: str = "fastest"
    energy_weight: float = 0.5
    allowed: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    minibatch: int | str | None = None
    predictor_id: int | None = None


@dataclass(frozen=True)
class Quantity:
    """A value and its 90 % interval; low and high are None where the method knows no uncertainty."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PlannedMode:
    """A mode as believed. Epoch figures are None while the samples per epoch are unknown, and all times and
    energies while no mode is measured."""

    rank: int
    knobs: Knobs
    minibatch: int
    measured: bool
    chance: float | None
    time_ms: Quantity | None
    power_mw: Quantity
    energy_mj: Quantity | None
    epoch_s: Quantity | None
    epoch_energy_j: Quantity | None


@dataclass(frozen=True)
class Comparison:
    """The chosen mode against another: changes in % of the other's, negative is less."""

    name: str
    mode: PlannedMode
    fits: bool
    time_change_pct: float
    power_change_pct: float
    energy_change_pct: float
    note: str = ""


@dataclass(frozen=True)
class Shortfall:
    """How far the closest mode is beyond a ceiling, at the accepted risk."""

    ceiling: str
    limit: float
    needed: float


@dataclass(frozen=True)
class Provenance:
    predictor: int
    prediction_set: int
    method: str
    fitted: str
    modes_measured: int
    own_error: dict[str, Any] | None
    stale: bool
    stale_reason: str
    emulated: bool
    outlook: dict[str, Any] | None = None


@dataclass(frozen=True)
class PlanAnswer:
    """`mode` is the choice, or where not feasible the one that comes closest."""

    workload: str
    device_model: str
    question: PlanQuestion
    feasible: bool
    mode: PlannedMode
    reason: str
    time_reason: str
    epoch_reason: str
    shortfalls: list[Shortfall]
    nearest_beyond: PlannedMode | None
    maxn: Comparison
    best_stock: Comparison | None
    stock_reason: str
    notes: list[str]
    provenance: Provenance
    nvpmodel: str
    explanation: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class BudgetAnswer:
    """The choice for one of several power budgets; where not feasible, the mode that comes closest."""

    power_mw: float
    feasible: bool
    mode: PlannedMode


def as_json(thing: Any) -> Any:
    """Dataclasses and knobs as plain JSON values."""
    if isinstance(thing, Knobs):
        return thing._asdict()
    if is_dataclass(thing):
        return {each.name: as_json(getattr(thing, each.name)) for each in fields(thing)}
    if isinstance(thing, Mapping):
        return {key: as_json(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [as_json(value) for value in thing]
    return thing
