"""What people ask a board to measure: typed into fields, turned into a SweepQuestion."""

from typing import Any

from django import forms

from profiling.asking import SweepQuestion
from profiling.knobs import KNOB_NAMES, Knobs
from profiling.models import Device, Workload
from profiling.modes import STRATEGIES

RULES = ("minibatches", "power_samples", "settle_s", "ceiling_c", "passes")
AIMS = [("all", "all modes alike"), ("front", "the time-power front"), ("power", "one power budget")]
PASSES = [("", "time and power together"), ("apart", "time first, power in a second pass")]


def number(label: str, hint: str, whole: bool = False, **limits: Any) -> forms.Field:
    field: type[forms.Field] = forms.IntegerField if whole else forms.FloatField
    return field(label=label, required=False, help_text=hint, **limits)


class SweepForm(forms.Form):
    workload = forms.ModelChoiceField(Workload.objects.all(), to_field_name="slug", empty_label="choose")
    device = forms.ModelChoiceField(
        Device.objects.filter(retired=False).select_related("device_model"),
        to_field_name="slug",
        empty_label="choose",
        label="Board",
    )
    strategy = forms.ChoiceField(
        label="Modes",
        choices=[(name, words[0].upper() + words[1:]) for name, words in STRATEGIES.items()],
        initial="active",
    )
    count = forms.IntegerField(
        label="How many", min_value=1, max_value=5000, initial=50, required=False,
        help_text="Random modes, or the most that the predictor may ask for.",
    )  # fmt: skip
    aim = forms.ChoiceField(
        label="Learn best", choices=AIMS, required=False, help_text="Where the predictor shall be surest."
    )
    aim_power_w = number("Power budget, W", "For the aim of one power budget.", min_value=0.1)
    modes = forms.CharField(
        label="Modes listed",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="One a line: cores, then CPU, GPU and memory clock in kHz.",
    )
    seed = number("Seed", "The same seed draws the same modes.", whole=True, min_value=0, initial=0)
    minibatches = number("Minibatches", "Clean ones a mode; 40 where empty.", whole=True, min_value=1)
    power_samples = number("Power samples", "Distinct ones a mode; 10 where empty.", whole=True, min_value=1)
    settle_s = number("Settle, s", "Least wait for steady power; 1.5 where empty.", min_value=0.1)
    ceiling_c = number("Temperature ceiling, °C", "Hotter, the board rests; 85 where empty.", min_value=1)
    passes = forms.ChoiceField(label="Passes", choices=PASSES, required=False)
    dvfs = forms.BooleanField(
        label="DVFS on: the board's governor sets the clocks, in one run", required=False
    )
    baseload = forms.BooleanField(label="Baseload: measure the idle board, run nothing", required=False)

    CHOICE = ("workload", "device", "strategy", "count")
    DETAILS = ("aim", "aim_power_w", "modes", "seed", *RULES, "dvfs", "baseload")

    def clean_modes(self) -> list[Knobs]:
        lines = [line.replace(",", " ").split() for line in self.cleaned_data["modes"].splitlines()]
        stated = [(place, words) for place, words in enumerate(lines, start=1) if words]
        wrong = [
            str(place)
            for place, words in stated
            if len(words) != len(KNOB_NAMES) or not all(word.isdecimal() for word in words)
        ]
        if wrong:
            raise forms.ValidationError(f"Not four whole numbers in line {', '.join(wrong)}.")
        return [Knobs(*map(int, words)) for _, words in stated]

    def clean(self) -> dict[str, Any]:
        asked = super().clean() or self.cleaned_data
        if asked.get("aim") == "power" and not asked.get("aim_power_w"):
            self.add_error("aim_power_w", "Give the budget that the predictor shall be surest about.")
        return asked

    def question(self) -> SweepQuestion:
        """InvalidInput where the parts do not go together."""
        asked = self.cleaned_data
        aim = asked["aim"] or "all"
        return SweepQuestion(
            **{name: asked[name] for name in ("workload", "device", "strategy", "modes", "dvfs", "baseload")},
            count=asked["count"] or 50,
            seed=asked["seed"] or 0,
            aim=asked["aim_power_w"] * 1000 if aim == "power" else aim,
            rules={name: asked[name] for name in RULES if asked[name] not in (None, "")},
        )

    @property
    def choice(self) -> list[forms.BoundField]:
        return [self[name] for name in self.CHOICE]

    @property
    def details(self) -> list[forms.BoundField]:
        return [self[name] for name in self.DETAILS]
