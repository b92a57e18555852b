"""Which runs of a workload on a device model predictors are fitted to, and why the others are left out.

The rule itself is that of measured_table (profiling/selectors/runs.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import BooleanField, Case, Count, Q, Value, When

from profiling.flags import BIT, FLAGS
from profiling.models import DeviceModel, Run, Workload
from profiling.selectors.runs import EXCLUDING_BITS, EXCLUDING_FLAGS, NEEDED

EXCLUDING = tuple(flag for flag in FLAGS if flag in EXCLUDING_FLAGS)
RULE = (
    "Fitting takes complete runs of which all four knobs, time and power are known, and which carry none of "
    f"the flags {', '.join(EXCLUDING)}; emulated runs only while there are no such measured ones."
)
UNKNOWN = "with a knob, the time or the power not known"
EMULATED = "emulated, while there are measured ones"


class Left(NamedTuple):
    """filters: what finds them in the list of runs; none where no filter does."""

    why: str
    runs: int
    filters: dict[str, str]


@dataclass(frozen=True)
class Fitting:
    """Of `complete` runs those `used`; a run that carries several flags is under each in `left`."""

    complete: int
    used: int
    left: list[Left]


class Cell(NamedTuple):
    """Runs that agree in all the rule asks."""

    emulated: bool
    flag_bits: int
    known: bool
    runs: int

    @property
    def good(self) -> bool:
        return self.known and not self.flag_bits & EXCLUDING_BITS


def fitting(*, workload: Workload, device_model: DeviceModel) -> Fitting:
    found = fittings(workload=workload, device_model=device_model)
    return found.get(device_model.pk, Fitting(0, 0, []))


def fittings(*, workload: Workload, device_model: DeviceModel | None = None) -> dict[int, Fitting]:
    """Of each device model with complete runs, by its key."""
    cells: dict[int, list[Cell]] = {}
    for board, *cell in _cells(workload, device_model):
        cells.setdefault(board, []).append(Cell(*cell))
    return {board: _told(own) for board, own in cells.items()}


def _told(cells: list[Cell]) -> Fitting:
    measured = any(cell.good and not cell.emulated for cell in cells)
    spare = [cell for cell in cells if cell.good and cell.emulated and measured]
    used = _runs(cell for cell in cells if cell.good) - _runs(spare)
    by_flag = {flag: _runs(cell for cell in cells if cell.flag_bits & BIT[flag]) for flag in EXCLUDING}
    left = [
        *(Left(flag, runs, {"flag": flag}) for flag, runs in by_flag.items()),
        Left(UNKNOWN, _runs(cell for cell in cells if not cell.known), {}),
        Left(EMULATED, _runs(spare), {"emulated": "true"}),
    ]
    return Fitting(_runs(cells), used, [each for each in left if each.runs])


def _runs(cells: Iterable[Cell]) -> int:
    return sum(cell.runs for cell in cells)


def _cells(workload: Workload, device_model: DeviceModel | None) -> list[tuple[Any, ...]]:
    """Device model and the fields of a Cell; counted along the index run_browse."""
    known = Case(
        When(Q(**{f"{name}__isnull": False for name in NEEDED}), then=Value(True)),
        default=Value(False),
        output_field=BooleanField(),
    )
    runs = Run.objects.filter(workload=workload, state=Run.State.COMPLETE).order_by().annotate(known=known)
    if device_model is not None:
        runs = runs.filter(device_model=device_model)
    fields = ("device_model", "emulated", "flag_bits", "known")
    return list(runs.values_list(*fields).annotate(runs=Count("*")))
