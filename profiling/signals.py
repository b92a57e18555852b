"""What other apps may listen to; sent after commit, so that listeners see what happened."""

from django.dispatch import Signal

# Arguments: workload_id, device_model_id. Runs of this pair were added or taken away.
runs_changed = Signal()

# Arguments: sweep_id. Every run of the sweep is decided. A listener extends it at once, or answers True to
# say that it will, or will close it.
sweep_drained = Signal()
