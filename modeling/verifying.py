"""Verified picks on a board: pick, measure, learn, pick again, and keep the best *measured* mode. The same
steps as modeling.core.verify takes on a table; here each is a message to a worker."""

import logging
from dataclasses import dataclass, replace

import numpy as np
from django.db import transaction

from modeling.active_sweeps import waits_for_choice
from modeling.answers import PlanQuestion
from modeling.core.planner import Budget, with_measured
from modeling.core.prediction import IntArray, Prediction
from modeling.core.verify import RISK, TRIES, bolder
from modeling.models import Plan, Predictor
from modeling.planning import budget_of, choice_among, planned_mode
from modeling.selectors.landscape import MEASURED_LOG_SD, Landscape, landscape, rows_of
from modeling.services.predictors import predictor_again
from modeling.services.verification import pick_of
from modeling.stock import power_model_block
from modeling.training import FIT_ERRORS, Fitter, predict_all, read
from profiling.errors import Conflict, LabError
from profiling.knobs import Knobs
from profiling.models import PowerMode, Run, Sweep
from profiling.services.sweeps import sweep_close, sweep_extend

logger = logging.getLogger(__name__)

KEPT = "the best measured mode that keeps the budget."
CLOSEST = "no measured mode keeps the budget, this one comes closest."


@dataclass(frozen=True)
class Standing:
    """What is believed after the last pick was measured. rows: those of the plan's minibatch size."""

    land: Landscape
    rows: IntArray
    question: PlanQuestion
    budget: Budget

    @property
    def measured(self) -> IntArray:
        return self.rows[self.land.measured[self.rows]]


def plan_pick_again(*, sweep_id: int) -> None:
    """Add the next pick to a verifying sweep, or close it with the best measured mode."""
    sweep = Sweep.objects.select_related("workload", "device__device_model").get(pk=sweep_id)
    seen = sweep.runs.count()
    if not waits_for_choice(sweep, seen):
        return
    plan = Plan.objects.select_related("workload", "device_model", "prediction_set__predictor").get(
        pk=sweep.options["plan"]
    )
    try:
        go_on(plan, sweep, seen)
    except FIT_ERRORS as error:
        logger.warning("sweep %s: %s", sweep.pk, error)
        sweep_close(sweep_id=sweep.pk, message=f"No further mode could be picked: {error}")


def go_on(plan: Plan, sweep: Sweep, seen: int) -> None:
    if not sweep.runs.filter(state=Run.State.COMPLETE).exists():
        sweep_close(sweep_id=sweep.pk, message="The planned mode could not be measured.")
        return
    predictor = predictor_of(plan)
    standing = standing_of(plan, predictor)
    pick = next_pick(standing)
    with transaction.atomic():
        Sweep.objects.select_for_update().get(pk=sweep.pk)
        if not waits_for_choice(sweep, seen):
            return
        if seen < TRIES and not standing.land.measured[pick]:
            add_pick(sweep, standing, pick)
        else:
            conclude(plan, sweep, standing)
            transaction.on_commit(lambda: fit_again(plan, predictor), robust=True)


def predictor_of(plan: Plan) -> Predictor:
    """The plan's own, or the one believed now where that is gone."""
    if plan.prediction_set is not None:
        return plan.prediction_set.predictor
    return landscape(workload=plan.workload, device_model=plan.device_model).prediction_set.predictor


def standing_of(plan: Plan, predictor: Predictor) -> Standing:
    """The plan's predictor fitted anew to all that is measured by now."""
    question = replace(PlanQuestion(**plan.question), minibatch=plan.workload.minibatch, predictor_id=None)
    land = landscape(workload=plan.workload, device_model=plan.device_model)
    target, references = read(predictor)
    if not len(target.table):
        raise Conflict("The mode that was measured is unusable: see its flags.")
    prediction = predict_all(Fitter(predictor, references).fit(target.measured), target, land.minibatches)
    table = target.table
    rows, source = rows_of(table, plan.device_model.ranges, tuple(land.minibatches))
    believed = with_measured(prediction, rows, table.time_ms[source], table.power_mw[source], MEASURED_LOG_SD)
    measured = np.isin(np.arange(len(land.knobs)), rows)
    land = replace(land, prediction=believed, measured=measured, time_level_known=True)
    return Standing(land, land.block(plan.workload.minibatch), question, budget_of(land, question))


def next_pick(standing: Standing) -> int:
    """Bolder than the plan: this one is measured before it is trusted."""
    budget = bolder(standing.budget, max(RISK, standing.budget.risk))
    return choice_among(standing.land, standing.rows, standing.question, budget).index


def add_pick(sweep: Sweep, standing: Standing, row: int) -> None:
    mode = planned_mode(standing.land, row, standing.budget)
    sweep.options["picks"] = [*sweep.options["picks"], pick_of(mode)]
    sweep.message = f"Picked again with what was measured: {mode.knobs}."
    sweep.save(update_fields=["options", "message"])
    sweep_extend(sweep=sweep, modes=[mode.knobs])


def conclude(plan: Plan, sweep: Sweep, standing: Standing) -> None:
    """The best measured mode within the budget, by its measured values alone; else the closest."""
    land, p = standing.land, standing.land.prediction
    exact = replace(land, prediction=Prediction(p.time_ms, p.power_mw))
    best = choice_among(exact, standing.measured, standing.question, standing.budget)
    knobs = Knobs(*land.knobs[best.index, :4].tolist())
    run = measured_run(plan, knobs)
    before = "" if run and run.sweep_id == sweep.pk else " It had been measured before."
    said = f"{knobs}: {KEPT if best.feasible else CLOSEST}{before}"
    plan.refresh_from_db(fields=["answer"])
    plan.answer["outcome"] = {
        "kept": best.feasible,
        "run": run.pk if run else None,
        "knobs": knobs._asdict(),
        "said": said,
    }
    if best.feasible:
        plan.answer["nvpmodel"] = power_model_block(
            device_model=plan.device_model, knobs=knobs, device=sweep.device
        )
    plan.verification = run
    plan.power_mode = stored_mode(plan, knobs) if best.feasible else None
    plan.save(update_fields=["answer", "verification", "power_mode"])
    sweep_close(sweep_id=sweep.pk, message=said)


def measured_run(plan: Plan, knobs: Knobs) -> Run | None:
    mode = {**knobs._asdict(), "minibatch": plan.workload.minibatch}
    runs = Run.objects.filter(workload=plan.workload, device_model=plan.device_model, **mode)
    return runs.filter(state=Run.State.COMPLETE).order_by("-id").first()


def stored_mode(plan: Plan, knobs: Knobs) -> PowerMode | None:
    return PowerMode.objects.filter(
        device_model=plan.device_model, rank=plan.device_model.ranges.rank(knobs)
    ).first()


def fit_again(plan: Plan, predictor: Predictor) -> None:
    """What was learned here is good for every later plan."""
    try:
        predictor_again(predictor=predictor, user=plan.requested_by)
    except LabError as error:
        logger.warning("plan %s: %s", plan.pk, error)
