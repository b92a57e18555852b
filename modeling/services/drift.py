"""Does a predictor still hold after a software update? A few modes measured again tell."""

from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from modeling.columns import prediction_of
from modeling.core.prediction import FloatArray
from modeling.models import PredictionSet, Predictor
from modeling.selectors.landscape import MEASURED_LOG_SD, current_table, time_level_known
from modeling.services.predictors import predictor_again
from modeling.services.verification import check_device
from profiling.errors import Conflict
from profiling.knobs import Knobs
from profiling.models import Device, Run, Sweep, Workload
from profiling.services.sweeps import sweep_request

STRATEGY = "sentinels"
SENTINELS = 3
# Epochs on one board repeat within 1 to 5 %; another kernel, PyTorch or JetPack moved times by up to 40 %
# (Characterizing training, 5.4.1 and 5.4.4).
DRIFT_PCT = 5.0


def drift_check(*, predictor: Predictor, device: Device, user: User | None = None) -> Sweep:
    """A sweep of three modes measured before; `drift_judge` compares."""
    check_device(device, predictor.device_model)
    expected = sentinels(predictor.workload, device)
    if not expected:
        raise Conflict(f"No mode of {predictor.workload} is measured that {device} could measure again.")
    return sweep_request(
        device=device,
        workload=predictor.workload,
        strategy=STRATEGY,
        modes=[Knobs(*each["knobs"]) for each in expected],
        user=user,
        options={"drift_of": predictor.pk, "expected": expected},
    )


def sentinels(workload: Workload, device: Device) -> list[dict[str, Any]]:
    """The leanest mode measured, the one that draws most, and one half way between, with what they did."""
    table = current_table(workload=workload, device_model=device.device_model)
    legal = device.ranges.ranks(table.knobs) >= 0
    rows = np.flatnonzero((table.minibatch == workload.minibatch) & legal)
    ordered = rows[np.argsort(table.power_mw[rows])]
    places = np.linspace(0, len(ordered) - 1, min(SENTINELS, len(ordered))).round().astype(int)
    return [
        {
            "knobs": table.knobs[row].tolist(),
            "time_ms": float(table.time_ms[row]),
            "power_mw": float(table.power_mw[row]),
        }
        for row in ordered[places].tolist()
    ]


@transaction.atomic
def drift_judge(*, sweep: Sweep) -> None:
    """Write the verdict on the predictor's card. One that holds is fitted again with what was measured; one
    that does not has stale predictions."""
    predictor = Predictor.objects.filter(pk=sweep.options["drift_of"]).first()
    if predictor is None or not (changes := drift_changes(sweep, predictor)):
        return
    worst = {name: max((each[name] for each in changes), key=abs) for name in ("time_pct", "power_pct")}
    holds = all(abs(value) <= DRIFT_PCT for value in worst.values())
    predictor.card["drift"] = {"sweep": sweep.pk, "holds": holds, "changes": changes, **worst}
    predictor.save(update_fields=["card"])
    Device.objects.filter(pk=sweep.device_id).update(former_software=None)
    if holds:
        predictor_again(predictor=predictor, user=sweep.requested_by)
    else:
        reason = (
            f"Drift: time {worst['time_pct']:+.1f} %, power {worst['power_pct']:+.1f} % on sentinel modes."
        )
        PredictionSet.objects.filter(predictor=predictor).update(stale=True, stale_reason=reason)


def drift_changes(sweep: Sweep, predictor: Predictor) -> list[dict[str, Any]]:
    """Each sentinel that was measured again: the change in % of what it did before, and how many standard
    deviations it is off the prediction."""
    found = {
        tuple(run.knobs): run
        for run in sweep.runs.filter(state=Run.State.COMPLETE)
        if run.knobs and run.time_ms and run.power_mw
    }
    return [
        {
            "knobs": before["knobs"],
            "run": now.pk,
            "time_pct": (now.time_ms / before["time_ms"] - 1) * 100,
            "power_pct": (now.power_mw / before["power_mw"] - 1) * 100,
            **z_scores(predictor, now),
        }
        for before in sweep.options["expected"]
        if (now := found.get(tuple(before["knobs"])))
    ]


def z_scores(predictor: Predictor, run: Run) -> dict[str, float | None]:
    """ln(measured / predicted) in standard deviations, those of the prediction and of a repeat together; None
    where the method states none or the prediction is gone."""
    found = PredictionSet.objects.filter(predictor=predictor).defer("columns").first()
    rank = predictor.device_model.ranges.ranks(np.array([run.knobs]))[0]
    if found is None or rank < 0 or run.minibatch not in found.minibatches:
        return {"time_z": None, "power_z": None}
    row = found.minibatches.index(run.minibatch) * found.mode_count + rank
    p, knows_times = prediction_of(found.pk, found.created), time_level_known(predictor)
    return {
        "time_z": z_score(run.time_ms if knows_times else None, p.time_ms, p.time_log_sd, row),
        "power_z": z_score(run.power_mw, p.power_mw, p.power_log_sd, row),
    }


def z_score(measured: float | None, centre: FloatArray, log_sd: FloatArray | None, row: int) -> float | None:
    if log_sd is None or measured is None:
        return None
    return float(np.log(measured / centre[row]) / np.hypot(log_sd[row], MEASURED_LOG_SD))
