"""What other apps may listen to; sent after commit, so that listeners see what happened."""

from django.dispatch import Signal

# Arguments: workload_id, device_model_id. Runs of this pair were added or taken away.
runs_changed = Signal()

# Arguments: device_slug, sweep_id. The board has something to measure.
sweep_started = Signal()

# Arguments: sweep_id. Every run of the sweep is decided; a listener may extend it before it closes.
sweep_drained = Signal()
