"""What this app does when others speak."""

import logging
from typing import Any

from django.dispatch import receiver

from modeling.selectors.references import teaches_more
from modeling.services.drift import drift_judge
from modeling.services.prediction_sets import prediction_sets_check
from modeling.services.verification import STRATEGY as VERIFY
from modeling.services.verification import plan_record
from profiling.errors import LabError
from profiling.models import Sweep
from profiling.signals import runs_changed, sweep_drained
from profiling.wake import wake_worker

logger = logging.getLogger(__name__)

# What a worker does for a sweep whose runs are used up, by the sweep's strategy.
REFRESH = "modeling.tasks.refresh_corpora"
GOES_ON = {"active": "modeling.tasks.choose_modes", VERIFY: "modeling.tasks.pick_again"}


@receiver(runs_changed)
def on_runs_changed(sender: Any, workload_id: int, device_model_id: int, **kwargs: Any) -> None:
    prediction_sets_check(workload_id=workload_id, device_model_id=device_model_id)
    if teaches_more(workload_id=workload_id, device_model_id=device_model_id):
        wake_worker(REFRESH, device_model_id)


@receiver(sweep_drained)
def on_sweep_drained(sender: Any, sweep_id: int, **kwargs: Any) -> bool:
    """True keeps the sweep open: it was extended, or a worker will choose its next modes or close it."""
    sweep = Sweep.objects.select_related("workload", "device__device_model").get(pk=sweep_id)
    try:
        judge(sweep)
    except LabError as error:  # the measurement stands; it is only not judged
        logger.warning("sweep %s: %s", sweep_id, error)
    if sweep.strategy in GOES_ON:
        wake_worker(GOES_ON[sweep.strategy], sweep_id)
    return sweep.strategy in GOES_ON


def judge(sweep: Sweep) -> None:
    if sweep.strategy == VERIFY:
        plan_record(sweep=sweep)
    if "drift_of" in sweep.options:
        drift_judge(sweep=sweep)
