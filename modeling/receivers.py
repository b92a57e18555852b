"""What this app does when others speak."""

import logging
from typing import Any

from django.dispatch import receiver

from modeling.services.drift import drift_judge
from modeling.services.prediction_sets import prediction_sets_check
from modeling.services.verification import plan_judge
from profiling.errors import LabError
from profiling.models import Sweep
from profiling.signals import runs_changed, sweep_drained
from profiling.wake import wake_worker

logger = logging.getLogger(__name__)


@receiver(runs_changed)
def on_runs_changed(sender: Any, workload_id: int, device_model_id: int, **kwargs: Any) -> None:
    prediction_sets_check(workload_id=workload_id, device_model_id=device_model_id)


@receiver(sweep_drained)
def on_sweep_drained(sender: Any, sweep_id: int, **kwargs: Any) -> bool:
    """True keeps the sweep open: it was extended, or a worker will choose its next modes or close it."""
    sweep = Sweep.objects.select_related("workload", "device__device_model").get(pk=sweep_id)
    if sweep.strategy == "active":
        wake_worker("modeling.tasks.choose_modes", sweep_id)
        return True
    try:
        return judged(sweep)
    except LabError as error:  # the measurement stands; it is only not judged
        logger.warning("sweep %s: %s", sweep_id, error)
        return False


def judged(sweep: Sweep) -> bool:
    if "plan" in sweep.options:
        return plan_judge(sweep=sweep)
    if "drift_of" in sweep.options:
        drift_judge(sweep=sweep)
    return False
