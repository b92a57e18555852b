"""From measurements to a plan in the product: fit, refit, and plans from a stored PredictionSet.

    python -m bench.plan [--profiled 50] [--times 30] [--json]

In a lab of its own, thrown away afterwards: AGX Xavier's 29,232 modes, one reference, made-up measurements
marked emulated. "refit" is a second predictor of the same references, whose fit the worker kept.
"""

import argparse
import io
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import django
import numpy as np

from bench.core import made_up, timed
from bench.report import show

BOARD, REFERENCE_MODES, BUDGETS = "agx-xavier", 1000, 10


def lab(profiled: int) -> tuple[Any, Any]:
    """The workload to predict, and the board."""
    from django.core.management import call_command

    from profiling.models import DeviceModel, Workload

    call_command("migrate", verbosity=0)
    call_command("seed_catalog", stdout=io.StringIO())
    board = DeviceModel.objects.get(slug=BOARD)
    fields = {"kind": "training", "network": "N", "minibatch": 16, "samples_per_epoch": 50_000}
    reference, target = (Workload.objects.create(slug=s, name=s, **fields) for s in ("reference", "target"))
    measure(reference, board, REFERENCE_MODES, 30, 40)
    measure(target, board, profiled, 60, 25)
    return target, board


def measure(workload: Any, board: Any, count: int, gpu_ms: float, cpu_ms: float) -> None:
    from profiling.models import Run

    modes = board.all_modes()
    table = made_up(
        "", modes[np.random.default_rng(3).choice(len(modes), count, replace=False)], gpu_ms, cpu_ms
    )
    pair = {"workload": workload, "device_model": board, "minibatch": 16, "emulated": True}
    Run.objects.bulk_create(
        Run(**pair, cores=cores, cpu_khz=cpu, gpu_khz=gpu, mem_khz=mem, time_ms=time_ms, power_mw=power_mw)
        for (cores, cpu, gpu, mem), time_ms, power_mw in zip(
            table.knobs.tolist(), table.time_ms.tolist(), table.power_mw.tolist(), strict=True
        )
    )


def fitted(workload: Any, board: Any) -> float:
    """Seconds of all that a worker does for one predictor, cross-validation and storing included."""
    from modeling.models import Predictor
    from modeling.services.predictors import predictor_request
    from modeling.training import predictor_fit

    predictor = predictor_request(workload=workload, device_model=board, method="roofline")
    _, took = timed(lambda: predictor_fit(predictor_id=predictor.pk))
    predictor.refresh_from_db()
    assert predictor.state == Predictor.State.READY, predictor.failure
    return took


def planned(workload: Any, board: Any, times: int) -> dict[str, float]:
    from modeling.answers import PlanQuestion
    from modeling.columns import prediction_of
    from modeling.selectors import landscape
    from modeling.services.plans import plan_make, plan_sweep

    def forget() -> None:
        for kept in (prediction_of, landscape.table_at, landscape._knobs, landscape._believed):
            kept.cache_clear()

    def plan(place: int, **more: Any) -> None:
        question = PlanQuestion(power_mw=15_000 + 500.0 * (place % BUDGETS), **more)
        plan_make(workload=workload, device_model=board, question=question)

    def first(place: int) -> None:
        forget()
        plan(place)

    def many(_: int) -> None:
        powers = [15_000 + 500.0 * place for place in range(BUDGETS)]
        plan_sweep(workload=workload, device_model=board, question=PlanQuestion(), powers_mw=powers)

    def three_limits(place: int) -> None:
        plan(place, time_ms=5000.0, epoch_energy_j=1e8, objective="knee")

    asked = {"first_plan": first, "plan": plan, "plan_three_limits": three_limits, "plans_10_budgets": many}
    return {name: value for each, ask in asked.items() for name, value in figures(each, ask, times).items()}


def figures(name: str, ask: Callable[[int], None], times: int) -> dict[str, float]:
    ask(0)
    took = [timed(lambda place=place: ask(place))[1] * 1000 for place in range(times)]  # type: ignore[misc]
    return {f"{name}_ms": statistics.median(took), f"{name}_ms_worst": max(took)}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profiled", type=int, default=50)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"JETSONLAB_DATA": folder, "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3"}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "jetsonlab.settings", "LOG_LEVEL": "ERROR"}
        django.setup()
        workload, board = lab(asked.profiled)
        found = {name: fitted(workload, board) for name in ("fit_s", "refit_s")}
        found |= planned(workload, board, asked.times)
    show(found, asked.json)


if __name__ == "__main__":
    main()
