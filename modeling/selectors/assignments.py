"""Which of several boards should run which workload: each pair's own best mode, then the best pairing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modeling.answers import PlannedMode, PlanQuestion, Quantity
from modeling.core.assignment import assign
from modeling.planning import answer_on
from modeling.selectors.landscape import landscape
from modeling.whatif import WhatIf, what_if
from profiling.errors import Conflict
from profiling.models import Device, Workload

# By the aim: what a mode is chosen for, and how the costs of the pairs are weighed.
AIMS = {"energy": ("least_energy", "total"), "time": ("fastest", "total"), "latest": ("fastest", "latest")}


@dataclass(frozen=True)
class Pairing:
    """A workload on a board in the mode that suits the aim; mode is None where `reason` says why."""

    workload: Workload
    board: Device
    mode: PlannedMode | None
    told: WhatIf | None
    emulated: bool = False
    reason: str = ""
    chosen: bool = False

    @property
    def done_s(self) -> Quantity | None:
        return self.told.run_s if self.told else None

    @property
    def energy_kwh(self) -> Quantity | None:
        return self.told.run_energy_kwh if self.told else None


def pairings(
    *,
    workloads: Sequence[Workload],
    boards: Sequence[Device],
    epochs: float,
    aim: str,
    power_mw: float | None = None,
    risk: float = 0.05,
) -> list[list[Pairing]]:
    """A row a workload, a column a board; `chosen` marks at most one pairing in each.

    Every workload runs so many epochs; power_mw limits each board at that risk.
    """
    objective, weighed = AIMS[aim]
    question = PlanQuestion(power_mw=power_mw, risk=risk, objective=objective)
    table = [[pairing(workload, board, question, epochs) for board in boards] for workload in workloads]
    costs = np.array([[cost(each, aim) for each in row] for row in table]).reshape(len(table), len(boards))
    taken = assign(costs, weighed)
    return [
        [chosen(each, place == column) for place, each in enumerate(row)]
        for row, column in zip(table, taken, strict=True)
    ]


def pairing(workload: Workload, board: Device, question: PlanQuestion, epochs: float) -> Pairing:
    try:
        land = landscape(workload=workload, device_model=board.device_model)
        land.need_times()
    except Conflict as error:
        return Pairing(workload, board, None, None, reason=error.message)
    if land.emulated and not board.emulated:
        why = "Known from an emulated board only; measure a few modes on a real one."
        return Pairing(workload, board, None, None, emulated=True, reason=why)
    answer = answer_on(land, question, board)
    told = what_if(mode=answer.mode, epochs=epochs)
    reason = "No mode keeps the power limit." if not answer.feasible else told.reason
    if reason:
        return Pairing(workload, board, None, None, land.emulated, reason)
    return Pairing(workload, board, answer.mode, told, land.emulated)


def cost(each: Pairing, aim: str) -> float:
    quantity = each.energy_kwh if aim == "energy" else each.done_s
    return np.inf if quantity is None else quantity.value


def chosen(each: Pairing, taken: bool) -> Pairing:
    return Pairing(**{**vars(each), "chosen": taken})
