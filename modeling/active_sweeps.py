"""Sweeps whose modes the predictor chooses, a batch at a time, in a worker: each is measured, then the next
is chosen with what it taught."""

import logging
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from modeling.core.active import Outlook, choose_next, outlook
from modeling.core.prediction import FloatArray, IntArray
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.roofline.belief import Belief, belief_for
from modeling.core.sampling import STEPS
from modeling.selectors.references import Source, default_references, source
from modeling.training import FIT_ERRORS, prepared
from profiling.knobs import Knobs
from profiling.models import Sweep
from profiling.services.sweeps import OPEN, WAITING, sweep_close, sweep_extend

logger = logging.getLogger(__name__)

# With fewer modes the promise of more is not yet to be trusted.
MODES_BEFORE_STOPPING = 10


@dataclass(frozen=True)
class Campaign:
    """What is known when the next batch is chosen.

    modes (n, 4): all that may be measured, and those that were. rows (k,): the measured ones among them.
    """

    belief: Belief
    modes: IntArray
    rows: IntArray
    time_ms: FloatArray
    power_mw: FloatArray


def sweep_choose(*, sweep_id: int) -> None:
    """Extend a drained active sweep, or close it when it has its modes or more would hardly help."""
    sweep = Sweep.objects.select_related("workload", "device__device_model").get(pk=sweep_id)
    if not waits_for_choice(sweep):
        return
    try:
        choose_or_close(sweep)
    except FIT_ERRORS as error:
        logger.warning("sweep %s: %s", sweep_id, error)
        sweep_close(sweep_id=sweep_id, message=f"No further mode could be chosen: {error}.")


def choose_or_close(sweep: Sweep) -> None:
    campaign = campaign_of(sweep)
    count = next_batch(sweep, campaign)
    if count <= 0:
        sweep_close(sweep_id=sweep.pk)
        return
    promise = promise_of(campaign, count, sweep.options.get("seed", 0))
    if promise is not None and not promise.worthwhile and len(campaign.rows) >= MODES_BEFORE_STOPPING:
        sweep_close(sweep_id=sweep.pk, message=f"Stopped early. {promise}.")
        return
    modes = chosen(campaign, count, sweep.options.get("seed", 0))
    with transaction.atomic():
        Sweep.objects.select_for_update().get(pk=sweep.pk)
        if waits_for_choice(sweep):
            sweep_extend(sweep=sweep, modes=modes)
            Sweep.objects.filter(pk=sweep.pk).update(message=str(promise or ""))


def waits_for_choice(sweep: Sweep) -> bool:
    still_open = Sweep.objects.filter(pk=sweep.pk, state__in=OPEN).exists()
    return still_open and not sweep.runs.filter(state__in=WAITING).exists()


def campaign_of(sweep: Sweep) -> Campaign:
    """Modes that this sweep already tried in vain are not offered again."""
    target = source(sweep.workload, sweep.device.device_model)
    ranges, size = sweep.device.ranges, sweep.workload.minibatch
    here = np.flatnonzero((target.table.minibatch == size) & (ranges.ranks(target.table.knobs) >= 0))
    ranks = ranges.ranks(target.table.knobs[here])
    tried = np.array([ranges.rank(run.knobs) for run in sweep.runs.all() if run.knobs], dtype=np.int64)
    kept = np.setdiff1d(np.arange(ranges.mode_count), np.setdiff1d(tried, ranks))
    return Campaign(
        belief=belief_of(target),
        modes=ranges.all_modes()[kept],
        rows=np.searchsorted(kept, ranks),
        time_ms=target.table.time_ms[here],
        power_mw=target.table.power_mw[here],
    )


def belief_of(target: Source) -> Belief:
    references = default_references(target=target)
    corpus, digests = [each.measured for each in references], [each.table.digest for each in references]
    fitted = prepared(RooflinePredictor, corpus, 0, digests)
    return belief_for(fitted, np.array(target.device_model.maximum, dtype=float), target.workload.kind)


def next_batch(sweep: Sweep, campaign: Campaign) -> int:
    """Up to the next count at which an active campaign fits again, within what was asked and what is left."""
    measured = len(campaign.rows)
    wanted = sweep.options["count"] - sweep.runs.count()
    step = next((step for step in STEPS if step > measured), measured + STEPS[-1])
    return min(step - measured, wanted, len(campaign.modes) - measured)


def promise_of(campaign: Campaign, count: int, seed: int) -> Outlook | None:
    """What the batch should bring; None before anything is measured."""
    if not len(campaign.rows):
        return None
    known = (campaign.rows, campaign.time_ms, campaign.power_mw)
    return outlook(campaign.belief, campaign.modes, *known, count=count, seed=seed)


def chosen(campaign: Campaign, count: int, seed: int) -> list[Knobs]:
    known = (campaign.rows, campaign.time_ms, campaign.power_mw)
    rows = choose_next(campaign.belief, campaign.modes, *known, count, seed=seed)
    return [Knobs(*mode) for mode in campaign.modes[rows].tolist()]
