"""Workloads on boards side by side: at one mode each, across stock modes, as they scale, and two by two."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Max

from modeling.answers import Quantity
from modeling.core.prediction import log_interval
from modeling.selectors.landscape import Landscape, landscape
from modeling.selectors.predictors import set_list
from modeling.stock import stock_modes
from profiling.errors import Conflict
from profiling.knobs import Knobs
from profiling.models import Run
from profiling.selectors.exploring import Group, board_groups, run_groups
from profiling.selectors.runs import FloatArray, MeasuredTable, measured_table, run_list

OWN_MODES = {"fastest": "time_ms", "least_power": "power_mw", "least_energy": "energy_mj"}
PACKAGES = {"onnx": "ONNX Runtime", "export": "torch.export", "python": "own package"}


@dataclass(frozen=True, eq=False)
class Subject:
    """A workload on a device model, or on one board of it, at one minibatch size, measured or emulated, with
    what is predicted."""

    group: Group

    @property
    def key(self) -> str:
        return self.group.key

    @property
    def name(self) -> str:
        return f"{self.group.workload} on {self.group.board or self.group.device_model}"

    @cached_property
    def whole_table(self) -> MeasuredTable:
        group = self.group
        return measured_table(
            workload=group.workload,
            device_model=group.device_model,
            emulated=group.emulated,
            board=group.board,
        )

    @cached_property
    def rows(self) -> Any:
        """Of the table, those of this minibatch size."""
        return np.flatnonzero(self.whole_table.minibatch == self.group.minibatch)

    @cached_property
    def columns(self) -> dict[str, FloatArray]:
        time, power = self.whole_table.time_ms[self.rows], self.whole_table.power_mw[self.rows]
        return {"time_ms": time, "power_mw": power, "energy_mj": time * power / 1000}

    @cached_property
    def knobs(self) -> Any:
        return self.whole_table.knobs[self.rows]

    @cached_property
    def land(self) -> Landscape | None:
        """What is predicted of it; None without a predictor of the same kind of runs and this size."""
        try:
            found = landscape(workload=self.group.workload, device_model=self.group.device_model)
        except Conflict:
            return None
        fits = found.emulated == self.group.emulated and self.group.minibatch in found.minibatches
        return found if fits and found.time_level_known else None

    @cached_property
    def framework(self) -> str | None:
        """As the source or the workload's package says; runs of our agents are PyTorch."""
        newest = self.group.only(run_list()).aggregate(newest=Max("id"))["newest"]  # which an index answers
        if newest is None:
            return None
        run = Run.objects.get(pk=newest)
        told = run.extra.get("framework") or run.provenance.get("framework")
        if told:
            return str(told)
        package = getattr(self.group.workload, "package", None)
        if package is not None:
            return PACKAGES.get(package.kind)
        graph = self.group.workload.runner_options.get("graph", "eager")
        return f"PyTorch, {graph}" if run.sweep_id and not run.emulated else None


@dataclass(frozen=True)
class Standing:
    """A subject at one mode. origin: measured, emulated or predicted; unknown: why there is no number."""

    subject: Subject
    knobs: Knobs | None = None
    time_ms: Quantity | None = None
    power_mw: Quantity | None = None
    origin: str = ""
    unknown: str = ""

    @property
    def energy_mj(self) -> float | None:
        """Of a minibatch."""
        if self.time_ms is None or self.power_mw is None:
            return None
        return self.time_ms.value * self.power_mw.value / 1000

    @property
    def samples_per_s(self) -> float | None:
        return None if self.time_ms is None else 1000 * self.subject.group.minibatch / self.time_ms.value

    @property
    def samples_per_j(self) -> float | None:
        """Throughput per watt."""
        energy = self.energy_mj
        return energy and 1000 * self.subject.group.minibatch / energy

    def realtime(self, rate_hz: float | None) -> float | None:
        """Seconds of input worked off in a second. rate_hz: values of the input in a second of it."""
        length, speed = self.subject.group.workload.sequence_length, self.samples_per_s
        return speed * length / rate_hz if speed and length and rate_hz else None


def subject_list() -> list[Subject]:
    """What was measured, most runs first, board by board where several measured the same, and what is only
    predicted."""
    groups = run_groups(run_list()) + board_groups(run_list())
    known = {group.key for group in groups}
    for found in set_list():
        predictor = found.predictor
        for size in found.minibatches:
            group = Group(predictor.workload, predictor.device_model, predictor.emulated, size, 0)
            if group.key not in known:
                known.add(group.key)
                groups.append(group)
    return [Subject(group) for group in groups]


def standing_at(subject: Subject, at: str) -> Standing:
    """at: "maxn", "stock:NAME", or one of OWN_MODES: the subject's own best measured mode."""
    if at in OWN_MODES:
        return _own_best(subject, OWN_MODES[at])
    board = subject.group.device_model
    name = at.removeprefix("stock:")
    knobs = (
        board.maximum if at == "maxn" else next((m.knobs for m in stock_modes(board) if m.name == name), None)
    )
    if knobs is None:
        return Standing(subject, unknown=f"{board} has no stock mode {name} with known clocks.")
    return _at_knobs(subject, knobs)


def stock_names(subjects: list[Subject]) -> list[str]:
    """The stock modes any of their boards has, in the boards' order."""
    boards = {subject.group.device_model.pk: subject.group.device_model for subject in subjects}
    return list(dict.fromkeys(mode.name for board in boards.values() for mode in stock_modes(board)))


def _own_best(subject: Subject, quantity: str) -> Standing:
    if not len(subject.rows):
        return Standing(subject, unknown="no mode was measured that is good for fitting")
    return _measured(subject, int(np.argmin(subject.columns[quantity])))


def _at_knobs(subject: Subject, knobs: Knobs) -> Standing:
    here = np.flatnonzero((subject.knobs == np.array(knobs)).all(axis=1))
    if len(here):
        return _measured(subject, int(here[0]))
    land = subject.land
    if land is None:
        return Standing(subject, knobs, unknown="not measured in this mode, and nothing predicts it")
    row = land.row(knobs, subject.group.minibatch)
    told = land.prediction
    time = _predicted(told.time_ms, told.time_log_sd, row)
    return Standing(subject, knobs, time, _predicted(told.power_mw, told.power_log_sd, row), "predicted")


def _measured(subject: Subject, place: int) -> Standing:
    time, power = (
        Quantity(float(subject.columns[name][place]), None, None) for name in ("time_ms", "power_mw")
    )
    origin = "emulated" if subject.group.emulated else "measured"
    return Standing(subject, Knobs(*subject.knobs[place].tolist()), time, power, origin)


def _predicted(values: FloatArray, log_sd: FloatArray | None, row: int) -> Quantity:
    value = float(values[row])
    if log_sd is None:
        return Quantity(value, None, None)
    low, high = log_interval(values[row : row + 1], log_sd[row : row + 1])
    return Quantity(value, float(low[0]), float(high[0]))


class Scaling(NamedTuple):
    """What a quantity does as one thing grows and everything else, the mode too, stays.

    x ascending; time_ms, energy_mj: of a minibatch, medians.
    """

    title: str
    along: str
    knobs: Knobs
    emulated: bool
    x: FloatArray
    time_ms: FloatArray
    energy_mj: FloatArray


def scaling_by_minibatch(subject: Subject) -> Scaling | None:
    """In the mode measured at most minibatch sizes, of equals the fastest clocks; None below two sizes."""
    table = subject.whole_table
    if not len(table):
        return None
    modes, of_row, sizes = np.unique(table.knobs, axis=0, return_inverse=True, return_counts=True)
    best = len(sizes) - 1 - int(np.argmax(sizes[::-1]))
    rows = np.flatnonzero(of_row.ravel() == best)
    if len(rows) < 2:
        return None
    rows = rows[np.argsort(table.minibatch[rows])]
    time, power = table.time_ms[rows], table.power_mw[rows]
    sizes_there = table.minibatch[rows].astype(float)
    knobs = Knobs(*modes[best].tolist())
    return Scaling(subject.name, "minibatch", knobs, table.emulated, sizes_there, time, time * power / 1000)


def scaling_by_length(subject: Subject, others: list[Subject]) -> Scaling | None:
    """Over workloads that differ from this one in input length only, in a mode all of them share."""
    if not subject.group.workload.sequence_length:
        return None
    family = [each for each in (subject, *others) if _alike(each, subject) and len(each.rows)]
    by_length = {length: each for each in family if (length := each.group.workload.sequence_length)}
    if len(by_length) < 2:
        return None
    ordered = [by_length[length] for length in sorted(by_length)]
    shared = set.intersection(*({tuple(row) for row in each.knobs.tolist()} for each in ordered))
    if not shared:
        return None
    knobs = Knobs(*max(shared))
    there = [_at_knobs(each, knobs) for each in ordered]
    time = np.array([each.time_ms.value for each in there if each.time_ms])
    energy = np.array([each.energy_mj for each in there], dtype=float)
    title = f"{subject.group.workload.network} on {subject.group.device_model}"
    lengths = np.array(sorted(by_length), dtype=float)
    return Scaling(title, "input length", knobs, subject.group.emulated, lengths, time, energy)


def _alike(one: Subject, other: Subject) -> bool:
    def facts(each: Subject) -> tuple[Any, ...]:
        workload, group = each.group.workload, each.group
        same = (
            workload.network,
            workload.dataset,
            workload.kind,
            workload.precision,
            workload.loader_workers,
        )
        return (*same, group.device_model.pk, group.minibatch, group.emulated, group.board)

    return facts(one) == facts(other)


def shared_modes(a: Subject, b: Subject, quantity: str) -> tuple[Any, FloatArray, FloatArray]:
    """Knobs (n, 4) both were measured at, and the quantity of each there (n,)."""
    _, mode = np.unique(np.concatenate([a.knobs, b.knobs]), axis=0, return_inverse=True)
    of_a, of_b = np.split(mode.ravel(), [len(a.knobs)])
    _, mine, theirs = np.intersect1d(of_a, of_b, assume_unique=True, return_indices=True)
    return a.knobs[mine], a.columns[quantity][mine], b.columns[quantity][theirs]
