"""Measuring what was planned: a sweep of the planned mode, and how it did. Picking again is a worker's work
(modeling/verifying.py)."""

from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from modeling.answers import PlannedMode, PlanQuestion, as_json
from modeling.core.planner import choose
from modeling.core.prediction import Prediction
from modeling.models import Plan
from modeling.planning import budget_of
from modeling.selectors.landscape import Landscape, landscape
from profiling.errors import Conflict, InvalidInput
from profiling.knobs import Knobs
from profiling.models import Device, DeviceModel, Run, Sweep
from profiling.services.sweeps import OPEN, sweep_request

STRATEGY = "verify"


def plan_verify(*, plan: Plan, device: Device, user: User | None = None) -> Sweep:
    """A sweep of the planned mode; once it is measured, further picks may be added to it."""
    if not plan.answer["feasible"]:
        raise Conflict("This plan found no mode that fits, so there is none to verify.")
    check_device(device, plan.device_model)
    check_basis(plan, device)
    planned = plan.answer["mode"]["minibatch"]
    if planned != plan.workload.minibatch:
        raise Conflict(
            f"Boards measure {plan.workload} at its own minibatch {plan.workload.minibatch}; this plan is "
            f"for {planned}. Create a workload of that size to verify it."
        )
    if Sweep.objects.filter(strategy=STRATEGY, options__plan=plan.pk, state__in=OPEN).exists():
        raise Conflict("This plan is being verified already.")
    return sweep_request(
        device=device,
        workload=plan.workload,
        strategy=STRATEGY,
        modes=[Knobs(**plan.answer["mode"]["knobs"])],
        user=user,
        options={"plan": plan.pk, "picks": [pick_of(plan.answer["mode"])]},
    )


def check_device(device: Device, device_model: DeviceModel) -> None:
    if device.device_model_id != device_model.pk:
        raise InvalidInput(f"{device} is a {device.device_model}, not a {device_model}.")


def check_basis(plan: Plan, device: Device) -> None:
    if plan.answer["provenance"]["emulated"] == device.emulated:
        return
    if device.emulated:
        raise Conflict(f"{device} is emulated, and this plan rests on real measurements. Take a real board.")
    raise Conflict(
        f"This plan rests on emulated measurements, which say nothing of {device}. Measure a few modes on "
        "it, predict, and plan again."
    )


def pick_of(mode: PlannedMode | dict[str, Any]) -> dict[str, Any]:
    """What was predicted of a mode before it was measured."""
    told = mode if isinstance(mode, dict) else as_json(mode)
    return {name: told[name] for name in ("knobs", "time_ms", "power_mw")}


@transaction.atomic
def plan_record(*, sweep: Sweep) -> None:
    """Keep beside the plan how its picks did, each with what was predicted of it."""
    plan = Plan.objects.select_related("workload", "device_model").get(pk=sweep.options["plan"])
    land = landscape(workload=plan.workload, device_model=plan.device_model)
    question = PlanQuestion(**plan.question)
    done = [run for run in sweep.runs.order_by("order") if is_measured(run)]
    plan.answer["verified"] = [
        verdict_of(run, sweep.options["picks"], keeps_budget(land, question, run)) for run in done
    ]
    plan.answer.pop("outcome", None)
    plan.verification = done[-1] if done else None
    plan.save(update_fields=["verification", "answer"])


def is_measured(run: Run) -> bool:
    return run.state == Run.State.COMPLETE and None not in (run.knobs, run.time_ms, run.power_mw)


def verdict_of(run: Run, picks: list[dict[str, Any]], kept: bool) -> dict[str, Any]:
    assert run.knobs is not None
    knobs = run.knobs._asdict()
    predicted = next(pick for pick in picks if pick["knobs"] == knobs)
    return {
        "run": run.pk,
        "knobs": knobs,
        "time_ms": run.time_ms,
        "power_mw": run.power_mw,
        "predicted_time_ms": predicted["time_ms"],
        "predicted_power_mw": predicted["power_mw"],
        "kept": kept,
    }


def keeps_budget(land: Landscape, question: PlanQuestion, run: Run) -> bool:
    """Whether the measured values themselves are within every ceiling."""
    assert run.knobs is not None
    measured = Prediction(np.array([run.time_ms]), np.array([run.power_mw]))
    return choose(measured, budget_of(land, question), knobs=np.array([[*run.knobs, run.minibatch]])).feasible
