import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Lookup, QuerySet, Value
from numpy.typing import NDArray

from profiling.flags import BIT
from profiling.knobs import KNOB_NAMES
from profiling.models import Device, DeviceModel, Run, Workload

# The one rule for fitting: a complete run counts when its knobs, time and power are all known, it carries
# none of these flags, and it is no emulation while the pair has real measurements.
NEEDED = (*KNOB_NAMES, "time_ms", "power_mw")
EXCLUDING_FLAGS = frozenset({"throttled", "unstable", "short", "few_power_samples", "dvfs_on"})
EXCLUDING_BITS = sum(BIT[flag] for flag in EXCLUDING_FLAGS)

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class MeasuredTable:
    """What was measured of one workload on one device model: a row a mode and minibatch size.

    Repeats are merged by their median; equal digests mean equal tables. `run_ids` are all runs used.
    """

    knobs: IntArray  # (n, 4)
    minibatch: IntArray  # (n,)
    time_ms: FloatArray  # (n,)
    power_mw: FloatArray  # (n,)
    repeats: IntArray  # (n,)
    run_ids: IntArray
    emulated: bool
    digest: str

    def __len__(self) -> int:
        return len(self.time_ms)


# The one rule for lists, counts and exports: a run that a correction revises is in none of them, unless
# asked for by state=superseded. Fitting takes complete runs only, so there it needs no rule.
def run_list() -> QuerySet[Run]:
    """Every run there is to see, with what leads back to its file."""
    return run_history().exclude(state=Run.State.SUPERSEDED)


def run_history() -> QuerySet[Run]:
    """With the runs that corrections revise."""
    heavy = ("problems", "notes", "mapping", "proposal")
    return Run.objects.select_related(
        "workload", "device_model", "device", "upload__uploader", "corrected_by"
    ).defer(*(f"upload__{name}" for name in heavy))


def cheapest_first(runs: QuerySet[Run]) -> QuerySet[Run]:
    """The same runs. SQLite asks each run the questions in the order they were put, until one is answered
    with no; what nobody may see is the dearest of them, and was put first."""
    same = runs.all()
    same.query.where.children.sort(key=_cost)
    return same


def _cost(question: Any) -> int:
    """Of when it came in, its end before its beginning, since lists begin with the newest; of an equality, a
    comparison, a look into a list or a subquery; of several questions together, or what is excluded."""
    if not isinstance(question, Lookup):
        return 6
    if not (question.rhs_is_direct_value() or isinstance(question.rhs, Value)):
        return 5
    if getattr(question.lhs, "target", None) == Run._meta.get_field("created"):
        return 0 if question.lookup_name in ("lt", "lte") else 1
    return {"exact": 2, "in": 4}.get(str(question.lookup_name), 3)


def usable_runs(*, workload: Workload, device_model: DeviceModel) -> QuerySet[Run]:
    """Complete runs with all knobs, time and power; their flags are still to be looked at."""
    return Run.objects.filter(
        workload=workload,
        device_model=device_model,
        state=Run.State.COMPLETE,
        **{f"{name}__isnull": False for name in NEEDED},
    )


def measured_table(
    *,
    workload: Workload,
    device_model: DeviceModel,
    emulated: bool | None = None,
    board: Device | None = None,
) -> MeasuredTable:
    """emulated: None is the rule above; a sweep that chooses as it goes looks at its own kind of run only.
    board: what was measured on it alone."""
    fields = ("cores", "cpu_khz", "gpu_khz", "mem_khz", "minibatch", "id", "time_ms", "power_mw")
    rows = [
        (made_up, row)
        for made_up, flags, *row in usable_runs(workload=workload, device_model=device_model)
        .filter(**({} if board is None else {"device": board}))
        .order_by("id")
        .values_list("emulated", "flag_bits", *fields)  # all in the index run_browse
        if not flags & EXCLUDING_BITS
    ]
    if emulated is None:
        emulated = all(each for each, _ in rows) and bool(rows)
    used = [row for each, row in rows if each == emulated]
    numbers = np.array([row[:6] for row in used], dtype=np.int64).reshape(-1, 6)
    measured = np.array([row[6:] for row in used], dtype=float).reshape(-1, 2)
    return _merged(numbers[:, :5], measured, numbers[:, 5], emulated)


def _merged(settings: IntArray, measured: FloatArray, run_ids: IntArray, emulated: bool) -> MeasuredTable:
    """settings (m, 5): knobs and minibatch; measured (m, 2): time and power."""
    modes, group, counts = np.unique(settings, axis=0, return_inverse=True, return_counts=True)
    time_ms, power_mw = (group_medians(column, group, counts) for column in measured.T)
    digest = hashlib.sha256(b"emulated" if emulated else b"measured")
    for column in (modes, time_ms, power_mw):
        digest.update(np.ascontiguousarray(column).tobytes())
    return MeasuredTable(
        modes[:, :4], modes[:, 4], time_ms, power_mw, counts, run_ids, emulated, digest.hexdigest()
    )


def group_medians(values: FloatArray, group: IntArray, counts: IntArray) -> FloatArray:
    """The median of each group: the middle, or the mean of the two middle ones, of its sorted values."""
    ordered = values[np.lexsort((values, group.ravel()))]
    starts = np.cumsum(counts) - counts
    return (ordered[starts + (counts - 1) // 2] + ordered[starts + counts // 2]) / 2
