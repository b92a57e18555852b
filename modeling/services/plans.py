"""Choosing the mode for a budget: computed in milliseconds from stored predictions, kept when asked."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction

from modeling.answers import BudgetAnswer, PlanAnswer, PlanQuestion, as_json
from modeling.models import Plan, PredictionSet
from modeling.planning import answer_on, answers_within
from modeling.selectors.landscape import landscape
from profiling.models import Device, DeviceModel, PowerMode, Workload
from profiling.services.audit import Action, audit


def plan_make(
    *,
    workload: Workload,
    device_model: DeviceModel,
    question: PlanQuestion | None = None,
    device: Device | None = None,
) -> PlanAnswer:
    """The answer; nothing is stored. Conflict while no predictor is ready, InvalidInput for a bad question.

    device: whose nvpmodel file the answer's block shall suit; without one, the device model's stock file.
    """
    question = question or PlanQuestion()
    land = landscape(workload=workload, device_model=device_model, predictor_id=question.predictor_id)
    return answer_on(land, question, device)


def plan_sweep(
    *, workload: Workload, device_model: DeviceModel, question: PlanQuestion, powers_mw: Sequence[float]
) -> list[BudgetAnswer]:
    """The choice for each of several power budgets, from one landscape; nothing is stored."""
    land = landscape(workload=workload, device_model=device_model, predictor_id=question.predictor_id)
    return answers_within(land, question, powers_mw)


@transaction.atomic
def plan_save(*, answer: PlanAnswer, user: User | None = None, device: Device | None = None) -> Plan:
    """Keep an answer as it was given; one that is not feasible has no power mode."""
    board = DeviceModel.objects.get(slug=answer.device_model)
    stored = PowerMode.objects.filter(device_model=board, rank=answer.mode.rank).first()
    plan = Plan.objects.create(
        prediction_set=PredictionSet.objects.filter(pk=answer.provenance.prediction_set).first(),
        workload=Workload.objects.get(slug=answer.workload),
        device_model=board,
        device=device,
        question=as_json(answer.question),
        power_mode=stored if answer.feasible else None,
        answer=as_json(answer),
        requested_by=user,
    )
    audit(Action.PLAN_KEEP, plan, user=user, question=plan.question, mode=plan.answer["mode"]["knobs"])
    return plan
