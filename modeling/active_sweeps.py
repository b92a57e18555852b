"""Sweeps whose modes the predictor chooses, a batch at a time, in a worker: each is measured, then the next
is chosen with what it taught."""

import logging
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from modeling.core.active import Aim, Outlook, choose_next, outlook
from modeling.core.prediction import FloatArray, IntArray
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.roofline.belief import Belief, belief_for
from modeling.core.sampling import STEPS
from modeling.corpora import prepared
from modeling.selectors.references import Source, default_references
from modeling.services.predictors import predictor_request
from modeling.training import FIT_ERRORS
from profiling.errors import Conflict
from profiling.knobs import Knobs
from profiling.models import Run, Sweep
from profiling.selectors.runs import measured_table
from profiling.services.sweeps import OPEN, WAITING, sweep_close, sweep_extend, wanted

logger = logging.getLogger(__name__)

# With fewer modes the promise of more is not yet to be trusted.
MODES_BEFORE_STOPPING = 10


@dataclass(frozen=True)
class Known:
    """What is known when the next batch is chosen.

    modes (n, 4): all that may be measured, and those that were. rows (k,): the measured ones among them.
    """

    belief: Belief
    modes: IntArray
    rows: IntArray
    time_ms: FloatArray
    power_mw: FloatArray

    @property
    def measured(self) -> tuple[IntArray, FloatArray, FloatArray]:
        return self.rows, self.time_ms, self.power_mw


@dataclass(frozen=True)
class Decision:
    """The modes to measure next, or none, and why."""

    modes: list[Knobs]
    message: str


def sweep_choose(*, sweep_id: int) -> None:
    """Extend a drained active sweep, or close it when it has its modes or more would hardly help."""
    sweep = Sweep.objects.select_related("workload", "device__device_model").get(pk=sweep_id)
    seen = sweep.runs.count()
    if not waits_for_choice(sweep, seen):
        return
    try:
        decision = decide(sweep, seen)
    except FIT_ERRORS as error:
        logger.warning("sweep %s: %s", sweep_id, error)
        decision = Decision([], f"No further mode could be chosen: {error}.")
    carry_out(sweep, seen, decision)


def decide(sweep: Sweep, seen: int) -> Decision:
    known = known_of(sweep)
    count = next_batch(sweep, seen, known)
    if count <= 0:
        return Decision([], "" if seen >= wanted(sweep) else "The board has no further mode to measure.")
    seed = sweep.options.get("seed", 0)
    promise = promise_of(known, count, seed)
    # Whoever asks for more is given a first batch, however little it may bring.
    if promise is not None and not promise.worthwhile and seen and len(known.rows) >= MODES_BEFORE_STOPPING:
        return Decision([], f"Stopped early. {promise}.")
    return Decision(chosen(known, count, seed, sweep.options.get("aim", "all")), str(promise or ""))


@transaction.atomic
def carry_out(sweep: Sweep, seen: int, decision: Decision) -> None:
    """Unless the sweep went on or ended while the decision was made."""
    Sweep.objects.select_for_update().get(pk=sweep.pk)
    if not waits_for_choice(sweep, seen):
        return
    if decision.modes:
        sweep_extend(sweep=sweep, modes=decision.modes)
        Sweep.objects.filter(pk=sweep.pk).update(message=decision.message)
    else:
        sweep_close(sweep_id=sweep.pk, message=decision.message)
        transaction.on_commit(lambda: predict_from(sweep), robust=True)


def predict_from(sweep: Sweep) -> None:
    """The predictor that chose the modes is what they were measured for."""
    if sweep.runs.filter(state=Run.State.COMPLETE).exists():
        try:
            predictor_request(
                workload=sweep.workload, device_model=sweep.device.device_model, user=sweep.requested_by
            )
        except Conflict as hindrance:
            logger.warning("sweep %s: %s", sweep.pk, hindrance)


def waits_for_choice(sweep: Sweep, seen: int) -> bool:
    still_open = Sweep.objects.filter(pk=sweep.pk, state__in=OPEN).exists()
    waiting = sweep.runs.filter(state__in=WAITING).exists()
    return still_open and not waiting and sweep.runs.count() == seen


def known_of(sweep: Sweep) -> Known:
    """Modes that this sweep already tried in vain are not offered again. An emulated board learns from
    emulated runs only, and a real one from real ones."""
    board = sweep.device.device_model
    table = measured_table(workload=sweep.workload, device_model=board, emulated=sweep.device.emulated)
    target = Source(sweep.workload, board, table)
    ranges, size = sweep.device.ranges, sweep.workload.minibatch
    here = np.flatnonzero((target.table.minibatch == size) & (ranges.ranks(target.table.knobs) >= 0))
    ranks = ranges.ranks(target.table.knobs[here])
    tried = np.array([ranges.rank(run.knobs) for run in sweep.runs.all() if run.knobs], dtype=np.int64)
    kept = np.setdiff1d(np.arange(ranges.mode_count), np.setdiff1d(tried, ranks))
    return Known(
        belief=belief_of(target),
        modes=ranges.all_modes()[kept],
        rows=np.searchsorted(kept, ranks),
        time_ms=target.table.time_ms[here],
        power_mw=target.table.power_mw[here],
    )


def belief_of(target: Source) -> Belief:
    references = default_references(target=target)
    fitted = prepared(RooflinePredictor, references, target.device_model, 0)
    return belief_for(fitted, np.array(target.device_model.maximum, dtype=float), target.workload.kind)


def next_batch(sweep: Sweep, seen: int, known: Known) -> int:
    """Up to the next count at which an active sweep fits again, within what was asked and what is left."""
    measured = len(known.rows)
    step = next((step for step in STEPS if step > measured), measured + STEPS[-1])
    return min(step - measured, wanted(sweep) - seen, len(known.modes) - measured)


def promise_of(known: Known, count: int, seed: int) -> Outlook | None:
    """What the batch should bring; None before anything is measured."""
    if not len(known.rows):
        return None
    return outlook(known.belief, known.modes, *known.measured, count=count, seed=seed)


def chosen(known: Known, count: int, seed: int, aim: Aim) -> list[Knobs]:
    aim = aim if len(known.rows) else "all"
    rows = choose_next(known.belief, known.modes, *known.measured, count, seed=seed, aim=aim)
    return [Knobs(*mode) for mode in known.modes[rows].tolist()]
