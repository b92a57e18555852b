"""What other apps may listen to; sent after commit, so that listeners see what happened."""

from django.dispatch import Signal

# Arguments: workload_id, device_model_id. Runs of this pair were added or taken away.
runs_changed = Signal()
