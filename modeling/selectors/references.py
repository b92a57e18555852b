"""What a predictor may learn from: measurements of the pair itself, and of other workloads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count

from modeling.core.prediction import IntArray, Measured
from profiling.errors import InvalidInput
from profiling.models import DeviceModel, Run, Workload
from profiling.selectors.runs import MeasuredTable, measured_table
from profiling.services.sweeps import WAITING

# Fewer modes than this say too little of a workload's whole surface to teach another one.
REFERENCE_MODES = 100


@dataclass(frozen=True)
class Source:
    """A workload's measurements on one device model."""

    workload: Workload
    device_model: DeviceModel
    table: MeasuredTable

    @property
    def measured(self) -> Measured:
        top = self.device_model.maximum
        return Measured(
            self.workload.slug,
            knobs_of(self.table),
            self.table.time_ms,
            self.table.power_mw,
            self.workload.kind,
            (top.cores, top.cpu_khz, top.gpu_khz, top.mem_khz),
        )

    @property
    def card(self) -> dict[str, object]:
        return {
            "workload": self.workload.slug,
            "name": str(self.workload),
            "device_model": self.device_model.slug,
            "device_model_name": str(self.device_model),
            "rows": len(self.table),
            "emulated": self.table.emulated,
            "digest": self.table.digest,
        }


def source(workload: Workload, device_model: DeviceModel) -> Source:
    return Source(workload, device_model, measured_table(workload=workload, device_model=device_model))


def knobs_of(table: MeasuredTable) -> IntArray:
    """Shape (n, 4), or (n, 5) where several minibatch sizes were measured."""
    several = len(np.unique(table.minibatch)) > 1
    return np.column_stack([table.knobs, table.minibatch]) if several else table.knobs


def default_references(*, target: Source, emulated: bool | None = None) -> list[Source]:
    """Well-measured workloads of the target's kind: on the same device model, else on any other.

    Emulated measurements teach emulated targets only, and measured ones measured targets; emulated: which
    the target is, else as its table says.
    """
    counts = (
        Run.objects.filter(state=Run.State.COMPLETE, workload__kind=target.workload.kind)
        .exclude(workload=target.workload)
        .values_list("workload", "device_model")
        .annotate(runs=Count("id"))
        .filter(runs__gte=REFERENCE_MODES)
        .order_by("workload", "device_model")
    )
    pairs = [(workload, board) for workload, board, _ in counts]
    same = [pair for pair in pairs if pair[1] == target.device_model.pk]
    wanted = target.table.emulated if emulated is None else emulated
    return _good_sources(same, target, wanted) or _good_sources(pairs, target, wanted)


def teaches_more(*, workload_id: int, device_model_id: int) -> bool:
    """Whether a change of the pair's runs is one that others should learn from, and no more is under way."""
    runs = Run.objects.filter(workload=workload_id, device_model=device_model_id)
    enough = runs.filter(state=Run.State.COMPLETE).count() >= REFERENCE_MODES
    return enough and not runs.filter(state__in=WAITING).exists()


def usual_corpus(*, device_model: DeviceModel) -> list[list[Source]]:
    """What a workload new to the board would learn from: a list of sources for each kind, emulated apart."""
    runs = Run.objects.filter(state=Run.State.COMPLETE, device_model=device_model)
    counts = runs.values_list("workload", "workload__kind").annotate(runs=Count("id"))
    many = counts.filter(runs__gte=REFERENCE_MODES).order_by("workload")
    known = Workload.objects.in_bulk([workload for workload, *_ in many])
    groups: dict[tuple[str, bool], list[Source]] = {}
    for workload, kind, _ in many:
        each = source(known[workload], device_model)
        if len(each.table) >= REFERENCE_MODES:
            groups.setdefault((kind, each.table.emulated), []).append(each)
    return list(groups.values())


def _good_sources(pairs: Sequence[tuple[int, int]], target: Source, emulated: bool) -> list[Source]:
    workloads = Workload.objects.in_bulk([workload for workload, _ in pairs])
    boards = DeviceModel.objects.in_bulk([board for _, board in pairs])
    found = (source(workloads[workload], boards[board]) for workload, board in pairs)
    good = (each for each in found if len(each.table) >= REFERENCE_MODES and each.table.emulated == emulated)
    return _best_board_each(good, target.device_model)


def named_references(*, workloads: Sequence[Workload], target: Source) -> list[Source]:
    """The references a person chose, each on the target's device model, else where it has most modes."""
    problems, found = [], []
    for workload in workloads:
        boards = DeviceModel.objects.filter(runs__workload=workload, runs__state=Run.State.COMPLETE)
        known = [source(workload, board) for board in boards.distinct()]
        best = _best_board_each((each for each in known if len(each.table)), target.device_model)
        if workload == target.workload:
            problems.append(f"{workload} cannot be a reference for itself")
        elif not best:
            problems.append(f"{workload} has no usable measurements")
        found += best
    if problems:
        raise InvalidInput("Some references cannot be used.", errors=problems)
    return found


def _best_board_each(sources: Iterable[Source], preferred: DeviceModel) -> list[Source]:
    best: dict[int, Source] = {}
    for each in sources:
        rank = (each.device_model == preferred, len(each.table))
        known = best.get(each.workload.pk)
        if known is None or rank > (known.device_model == preferred, len(known.table)):
            best[each.workload.pk] = each
    return list(best.values())
