"""Runs that may be compared with each other, as columns to draw and to calculate with."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, F, Max, Min, QuerySet

from profiling.knobs import KNOB_NAMES
from profiling.models import Device, DeviceModel, Run, Workload
from profiling.selectors.runs import EXCLUDING_BITS
from profiling.variability import FloatArray, IntArray, Modes, modes_of

MOST_RUNS = 50_000
SETTINGS = (*KNOB_NAMES, "minibatch")


class Group(NamedTuple):
    """Complete runs of one workload on one device model at one minibatch size, all emulated or none; of one
    board, or of all."""

    workload: Workload
    device_model: DeviceModel
    emulated: bool
    minibatch: int
    runs: int
    board: Device | None = None

    @property
    def key(self) -> str:
        kind = "emulated" if self.emulated else "measured"
        board = f"~{self.board.slug}" if self.board else ""
        return f"{self.workload.slug}~{self.device_model.slug}~{self.minibatch}~{kind}{board}"

    def only(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        of_board = runs if self.board is None else runs.filter(device=self.board)
        return of_board.filter(
            workload=self.workload,
            device_model=self.device_model,
            state=Run.State.COMPLETE,
            emulated=self.emulated,
            minibatch=self.minibatch,
        )


def run_groups(runs: QuerySet[Run]) -> list[Group]:
    """The largest first."""
    cells = sorted(_cells(runs), key=lambda row: (-row[4], row[:4]))
    workloads = Workload.objects.in_bulk({row[0] for row in cells})
    boards = DeviceModel.objects.in_bulk({row[1] for row in cells})
    return [Group(workloads[row[0]], boards[row[1]], *row[2:]) for row in cells]


def _cells(runs: QuerySet[Run]) -> list[tuple[int, int, bool, int, int]]:
    """Workload, device model, emulated, minibatch size and the complete runs of it.

    First counted along the index run_browse, whose order the state belongs to; then only those are counted by
    their size that came in several.
    """
    plain = runs.select_related(None).defer(None).order_by()
    sizes: dict[str, Any] = {"count": Count("*"), "least": Min("minibatch"), "most": Max("minibatch")}
    pairs = plain.values_list("workload_id", "device_model_id", "state", "emulated").annotate(**sizes)
    complete = [(*row[:2], *row[3:]) for row in pairs if row[2] == Run.State.COMPLETE]
    cells = [(*row[:3], row[4], row[3]) for row in complete if row[4] == row[5]]
    if several := {row[:3] for row in complete if row[4] != row[5]}:
        about = plain.filter(state=Run.State.COMPLETE, workload__in={row[0] for row in several})
        names = ("workload_id", "device_model_id", "emulated", "minibatch")
        by_size = about.values_list(*names).annotate(count=Count("*"))
        cells += [row for row in by_size if row[:3] in several]
    return cells


def left_out_of_fitting(runs: QuerySet[Run]) -> int:
    """How many carry a flag for which no predictor is fitted to them."""
    plain = runs.select_related(None).defer(None).order_by()
    return plain.annotate(bad=F("flag_bits").bitand(EXCLUDING_BITS)).filter(bad__gt=0).count()


def board_groups(runs: QuerySet[Run]) -> list[Group]:
    """A group for each board where two or more measured the same, the largest first."""
    plain = runs.filter(device__isnull=False, state=Run.State.COMPLETE).order_by()
    names = ("workload_id", "device_model_id", "emulated", "minibatch", "device_id")
    cells = list(plain.select_related(None).defer(None).values_list(*names).annotate(count=Count("*")))
    boards_of = Counter(cell[:4] for cell in cells)
    several = sorted((cell for cell in cells if boards_of[cell[:4]] > 1), key=lambda row: (-row[5], row[:5]))
    workloads = Workload.objects.in_bulk({row[0] for row in several})
    models = DeviceModel.objects.in_bulk({row[1] for row in several})
    boards = Device.objects.in_bulk({row[4] for row in several})
    return [
        Group(workloads[row[0]], models[row[1]], row[2], row[3], row[5], boards[row[4]]) for row in several
    ]


@dataclass(frozen=True)
class Sample:
    """The newest runs of a group in which the quantity is known: settings (n, 5) with -1 for unknown,
    values (n,) as stored, boards (n,) with 0 for unknown. modes: of all boards together; places: each mode on
    each board, whose settings (m, 6) end with the board."""

    quantity: str
    ids: IntArray
    settings: IntArray
    values: FloatArray
    boards: IntArray
    modes: Modes
    places: Modes
    cut: bool

    def __len__(self) -> int:
        return len(self.ids)

    def board_names(self) -> dict[int, str]:
        return dict(Device.objects.filter(pk__in=set(self.boards.tolist())).values_list("pk", "name"))


def run_sample(runs: QuerySet[Run], group: Group, quantity: str) -> Sample:
    """quantity: time_ms, power_mw or energy_mj."""
    known = group.only(runs).filter(**{f"{quantity}__gt": 0}).select_related(None).defer(None)
    rows: Any = known.order_by("-id").values_list("id", "device_id", *SETTINGS, quantity)[: MOST_RUNS + 1]
    whole = [[-1 if cell is None else cell for cell in row[:-1]] for row in rows]
    numbers = np.array(whole[:MOST_RUNS], dtype=np.int64).reshape(-1, 2 + len(SETTINGS))
    values = np.array([row[-1] for row in rows][:MOST_RUNS], dtype=float)
    settings = numbers[:, 2:]
    boards = numbers[:, 1].clip(0)
    modes, places = modes_of(settings, values), modes_of(np.column_stack([settings, boards]), values)
    return Sample(quantity, numbers[:, 0], settings, values, boards, modes, places, len(whole) > MOST_RUNS)


def coverage(sample: Sample, board: DeviceModel, x: str, y: str) -> dict[str, Any]:
    """Distinct modes measured, of those the board allows, over two knobs.

    x, y: the legal values. measured[row of y][column x]: modes measured there; per_cell: modes there are.
    """
    across, up = SETTINGS.index(x), SETTINGS.index(y)
    legal = {name: list(getattr(board, name)) for name in KNOB_NAMES}
    modes = sample.modes.settings[(sample.modes.settings[:, :4] >= 0).all(axis=1)]
    allowed = np.all([np.isin(modes[:, place], legal[name]) for place, name in enumerate(KNOB_NAMES)], axis=0)
    modes = modes[allowed]
    grid = np.zeros((len(legal[y]), len(legal[x])), dtype=np.int64)
    np.add.at(grid, (np.searchsorted(legal[y], modes[:, up]), np.searchsorted(legal[x], modes[:, across])), 1)
    return {
        "x": legal[x],
        "y": legal[y],
        "measured": grid.tolist(),
        "per_cell": board.mode_count // (len(legal[x]) * len(legal[y])),
        "modes": len(modes),
        "of": board.mode_count,
        "elsewhere": len(sample.modes.settings) - len(modes),
        "steps": {
            name: (len(np.unique(modes[:, place])), len(legal[name])) for place, name in enumerate(KNOB_NAMES)
        },
    }
