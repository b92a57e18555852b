"""What this app does when others speak."""

from typing import Any

from django.dispatch import receiver

from modeling.services.prediction_sets import prediction_sets_check
from profiling.models import Sweep
from profiling.signals import runs_changed, sweep_drained
from profiling.wake import wake_worker


@receiver(runs_changed)
def on_runs_changed(sender: Any, workload_id: int, device_model_id: int, **kwargs: Any) -> None:
    prediction_sets_check(workload_id=workload_id, device_model_id=device_model_id)


@receiver(sweep_drained)
def on_sweep_drained(sender: Any, sweep_id: int, **kwargs: Any) -> bool:
    """True keeps the sweep open: a worker will choose its next modes, or close it."""
    active = Sweep.objects.filter(pk=sweep_id, strategy="active").exists()
    if active:
        wake_worker("modeling.tasks.choose_modes", sweep_id)
    return active
