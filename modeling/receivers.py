"""What this app does when others speak."""

from typing import Any

from django.dispatch import receiver

from modeling.services.prediction_sets import prediction_sets_check
from profiling.signals import runs_changed


@receiver(runs_changed)
def on_runs_changed(sender: Any, workload_id: int, device_model_id: int, **kwargs: Any) -> None:
    prediction_sets_check(workload_id=workload_id, device_model_id=device_model_id)
