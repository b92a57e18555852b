"""Measuring what was planned: a plan's mode on a board, picked again where it breaks its budget."""

from dataclasses import replace
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from modeling.answers import PlanQuestion, as_json
from modeling.core.planner import Budget, choose
from modeling.core.prediction import Prediction
from modeling.models import Plan
from modeling.planning import answer_on, budget_of
from modeling.selectors.landscape import Landscape, landscape
from profiling.errors import Conflict, InvalidInput
from profiling.models import Device, DeviceModel, PowerMode, Run, Sweep
from profiling.services.sweeps import OPEN, sweep_extend, sweep_request

TRIES = 3


def plan_verify(*, plan: Plan, device: Device, user: User | None = None) -> Sweep:
    """A sweep of the planned mode alone; `plan_judge` goes on when it is measured."""
    if plan.power_mode is None:
        raise Conflict("This plan found no mode that fits, so there is none to verify.")
    check_device(device, plan.device_model)
    planned = plan.answer["mode"]["minibatch"]
    if planned != plan.workload.minibatch:
        raise Conflict(
            f"Boards measure {plan.workload} at its own minibatch {plan.workload.minibatch}; this plan is "
            f"for {planned}. Create a workload of that size to verify it."
        )
    if Sweep.objects.filter(options__plan=plan.pk, state__in=OPEN).exists():
        raise Conflict("This plan is being verified already.")
    return sweep_request(
        device=device,
        workload=plan.workload,
        strategy="list",
        modes=[plan.power_mode.knobs],
        user=user,
        options={"plan": plan.pk},
    )


def check_device(device: Device, device_model: DeviceModel) -> None:
    if device.device_model_id != device_model.pk:
        raise InvalidInput(f"{device} is a {device.device_model}, not a {device_model}.")


@transaction.atomic
def plan_judge(*, sweep: Sweep) -> bool:
    """Keep how the plan did. Where it broke its budget, pick again; True when that mode is to be measured."""
    plan = Plan.objects.select_related("workload", "device_model").get(pk=sweep.options["plan"])
    run = sweep.runs.order_by("-order").first()
    if run is None or run.state != Run.State.COMPLETE or None in (run.knobs, run.time_ms, run.power_mw):
        return False
    question = PlanQuestion(**plan.question)
    land = landscape(workload=plan.workload, device_model=plan.device_model)
    kept = keeps_budget(land, question, run)
    if any(each["run"] == run.pk for each in plan.answer.get("verified", ())):
        return False
    tried = [*plan.answer.get("verified", ()), verdict_of(run, kept)]
    plan.verification, plan.answer = run, {**plan.answer, "verified": tried}
    again = not kept and _pick_again(plan, land, question, sweep, tried)
    plan.save(update_fields=["verification", "answer", "power_mode"])
    return again


def verdict_of(run: Run, kept: bool) -> dict[str, Any]:
    knobs = run.knobs._asdict() if run.knobs else None
    return {"run": run.pk, "knobs": knobs, "time_ms": run.time_ms, "power_mw": run.power_mw, "kept": kept}


def keeps_budget(land: Landscape, question: PlanQuestion, run: Run) -> bool:
    """Whether the measured values themselves are within every ceiling."""
    assert run.knobs is not None
    measured = Prediction(np.array([run.time_ms]), np.array([run.power_mw]))
    budget: Budget = budget_of(land, question)
    return choose(measured, budget, knobs=np.array([[*run.knobs, run.minibatch]])).feasible


def _pick_again(
    plan: Plan, land: Landscape, question: PlanQuestion, sweep: Sweep, tried: list[dict[str, Any]]
) -> bool:
    answer = answer_on(land, replace(question, predictor_id=None))
    plan.answer = {**as_json(answer), "verified": tried}
    plan.power_mode = None
    if not answer.feasible:
        return False
    plan.power_mode = PowerMode.objects.filter(device_model=plan.device_model, rank=answer.mode.rank).first()
    if answer.mode.measured or len(tried) >= TRIES:
        return False
    return bool(sweep_extend(sweep=sweep, modes=[answer.mode.knobs]))
