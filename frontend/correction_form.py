"""What an engineer says a run should have said, in the units it is stored in."""

from typing import Any

from django import forms

from frontend.forms import MOST_STORED
from profiling.flags import FLAGS
from profiling.knobs import KNOB_NAMES
from profiling.models import Run

NUMBERS = {
    "time_ms": "Time of a minibatch, ms",
    "time_sd_ms": "Its standard deviation, ms",
    "fetch_ms": "Fetch, ms",
    "compute_ms": "Compute, ms",
    "power_mw": "Power, mW",
    "energy_mj": "Energy of a minibatch, mJ",
}
COUNTS = {"minibatches": "Minibatches timed", "power_samples": "Power samples"}
KNOBS = dict(zip(KNOB_NAMES, ("Cores", "CPU clock, kHz", "GPU clock, kHz", "Memory clock, kHz"), strict=True))
CORRECTION_LABELS = {**KNOBS, "minibatch": "Minibatch, samples", **NUMBERS, **COUNTS, "flags": "Flags"}


class CorrectionForm(forms.Form):
    """Empty means not known."""

    reason = forms.CharField(
        max_length=2000, label="Why", help_text="Everybody who meets the revision reads this."
    )

    def __init__(self, run: Run, data: Any = None) -> None:
        super().__init__(data)
        self.run = run
        for name, label in KNOBS.items():
            self.fields[name] = forms.TypedChoiceField(
                choices=[("", "unknown"), *((step, f"{step:,}") for step in self._steps(name))],
                coerce=int,
                empty_value=None,
                required=False,
                label=label,
            )
        self.fields["minibatch"] = forms.IntegerField(
            min_value=1, max_value=MOST_STORED, label=CORRECTION_LABELS["minibatch"]
        )
        for name, label in NUMBERS.items():
            self.fields[name] = forms.FloatField(
                required=False, label=label, widget=forms.NumberInput({"step": "any"})
            )
        for name, label in COUNTS.items():
            self.fields[name] = forms.IntegerField(
                min_value=0, max_value=MOST_STORED, required=False, label=label
            )
        flags = [(flag, flag) for flag in FLAGS]
        self.fields["flags"] = forms.MultipleChoiceField(
            choices=flags, widget=forms.CheckboxSelectMultiple, required=False
        )
        for name in CORRECTION_LABELS:
            self.fields[name].initial = getattr(run, name)

    def _steps(self, name: str) -> list[int]:
        """The legal ones, and what the run has now."""
        now = getattr(self.run, name)
        return sorted({*getattr(self.run.device_model, name), *([] if now is None else [now])})

    def changes(self) -> dict[str, Any]:
        """Fields that were given another value."""
        given = {name: self.cleaned_data[name] for name in CORRECTION_LABELS}
        return {name: value for name, value in given.items() if value != getattr(self.run, name)}
