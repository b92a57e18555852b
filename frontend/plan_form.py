"""The question of the planner as it stands in the address: people's units in, PlanQuestion out."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.urls import reverse

from modeling.answers import ANY_MINIBATCH, PlanQuestion
from modeling.core.objectives import OBJECTIVES
from profiling.knobs import KNOB_NAMES
from profiling.models import DeviceModel, Workload

AIMS = {
    "fastest": "fastest",
    "leanest": "least power",
    "least_energy": "least energy",
    "weighted": "weighted energy and time",
    "knee": "knee of the front",
}
# The address's name, the question's name, and the question's unit in units of the address.
CEILINGS = (
    ("power_w", "power_mw", 1000),
    ("epoch_min", "epoch_s", 60),
    ("epoch_kj", "epoch_energy_j", 1000),
    ("time_ms", "time_ms", 1),
    ("energy_j", "energy_mj", 1000),
)
UNITS = {
    "power_w": "W",
    "time_ms": "ms",
    "energy_j": "J",
    "epoch_min": "min an epoch",
    "epoch_kj": "kJ an epoch",
}
SHORT_NAMES = {"cores": "Cores", "cpu_khz": "CPU", "gpu_khz": "GPU", "mem_khz": "Memory"}
EPOCH, MINIBATCH = ("epoch_min", "epoch_kj"), ("time_ms", "energy_j")
RISK_PCT = 5


def ceiling(label: str, unit: str) -> forms.FloatField:
    attributes = {"step": "any", "min": "0", "placeholder": "no limit", "data-unit": unit}
    return forms.FloatField(
        label=label, min_value=1e-9, required=False, widget=forms.NumberInput(attrs=attributes)
    )


class PlanForm(forms.Form):
    workload = forms.ModelChoiceField(Workload.objects.all(), to_field_name="slug", empty_label="choose")
    device_model = forms.ModelChoiceField(
        DeviceModel.objects.all(), to_field_name="slug", empty_label="choose", label="Device model"
    )
    predictor = forms.IntegerField(required=False, widget=forms.HiddenInput)
    minibatch = forms.RegexField(rf"^([1-9]\d*|{ANY_MINIBATCH})$", required=False, widget=forms.HiddenInput)
    power_w = ceiling("Power", "W")
    epoch_min = ceiling("Time of an epoch", "min")
    time_ms = ceiling("Time of a minibatch", "ms")
    epoch_kj = ceiling("Energy of an epoch", "kJ")
    energy_j = ceiling("Energy of a minibatch", "J")
    risk = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=50,
        widget=forms.NumberInput(attrs={"type": "range", "min": "1", "max": "50", "step": "1"}),
    )
    objective = forms.ChoiceField(
        required=False, label="Aim", choices=[(name, AIMS.get(name, name)) for name in OBJECTIVES]
    )
    weight = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label="Weight of energy",
        widget=forms.NumberInput(attrs={"step": "0.05", "min": "0", "max": "1"}),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        slug = (data or {}).get("device_model", "")
        self.board = DeviceModel.objects.filter(slug=slug).first()
        for name in KNOB_NAMES if self.board else ():
            for end in ("min", "max"):
                self.fields[f"{name}_{end}"] = self._knob_field(name, end)

    def _knob_field(self, name: str, end: str) -> forms.TypedChoiceField:
        shown = (lambda value: f"{value}") if name == "cores" else (lambda khz: f"{khz / 1000:,.1f} MHz")
        steps = [(str(value), shown(value)) for value in getattr(self.board, name)]
        label = f"{SHORT_NAMES[name]}, {'at least' if end == 'min' else 'at most'}"
        return forms.TypedChoiceField(
            label=label, choices=[("", "any"), *steps], required=False, coerce=int, empty_value=None
        )

    def clean_minibatch(self) -> int | str | None:
        size = self.cleaned_data["minibatch"]
        return size if size == ANY_MINIBATCH else int(size) if size else None

    def offer_minibatches(self, sizes: list[int]) -> None:
        """A choice where several sizes are predicted; they compete by the time of a sample."""
        if len(sizes) > 1:
            choices = [
                ("", "the workload’s"),
                (ANY_MINIBATCH, "any, by time a sample"),
                *((s, s) for s in sizes),
            ]
            self.fields["minibatch"].widget = forms.Select(choices=choices)

    def question(self) -> PlanQuestion:
        asked = self.cleaned_data
        limits = {
            theirs: asked[ours] * factor for ours, theirs, factor in CEILINGS if asked[ours] is not None
        }
        ends = {name: (asked[f"{name}_min"], asked[f"{name}_max"]) for name in KNOB_NAMES}
        return PlanQuestion(
            **limits,
            risk=(asked["risk"] or RISK_PCT) / 100,
            objective=asked["objective"] or OBJECTIVES[0],
            energy_weight=0.5 if asked["weight"] is None else asked["weight"],
            allowed={name: pair for name, pair in ends.items() if pair != (None, None)},
            minibatch=asked["minibatch"],
            predictor_id=asked["predictor"],
        )

    @property
    def shown_risk(self) -> float:
        return self.data.get("risk") or RISK_PCT

    @property
    def limits(self) -> list[forms.BoundField]:
        """The limits people think in: of an epoch where its length is known, else of a minibatch."""
        return [self[name] for name in ("power_w", *(EPOCH if self._epoch_known else MINIBATCH))]

    @property
    def other_limits(self) -> list[forms.BoundField]:
        return [self[name] for name in MINIBATCH] if self._epoch_known else []

    @property
    def _epoch_known(self) -> bool:
        workload = getattr(self, "cleaned_data", {}).get("workload")
        return workload is not None and workload.samples_per_epoch is not None

    @property
    def knob_fields(self) -> list[forms.BoundField]:
        return [self[f"{name}_{end}"] for name in KNOB_NAMES for end in ("min", "max")] if self.board else []


def address_of(pair: dict[str, str], question: dict[str, Any]) -> str:
    """The planner's address for a kept question, as PlanQuestion gives it in JSON."""
    asked: dict[str, Any] = dict(pair)
    for ours, theirs, factor in CEILINGS:
        if question[theirs] is not None:
            asked[ours] = f"{question[theirs] / factor:g}"
    asked["risk"] = f"{question['risk'] * 100:g}"
    asked["objective"] = question["objective"]
    if question["objective"] == "weighted":
        asked["weight"] = question["energy_weight"]
    for name, (low, high) in question["allowed"].items():
        asked |= {f"{name}_min": low, f"{name}_max": high}
    asked["minibatch"] = question["minibatch"]
    return f"{reverse('plan')}?{urlencode({key: value for key, value in asked.items() if value is not None})}"


def question_words(question: dict[str, Any]) -> str:
    """'fastest within 20 W, risk 5 %'"""
    labels = {theirs: (factor, UNITS[ours]) for ours, theirs, factor in CEILINGS}
    limits = [
        f"{question[name] / factor:g} {unit}" for name, (factor, unit) in labels.items() if question[name]
    ]
    aim = AIMS.get(question["objective"], question["objective"])
    size = question.get("minibatch")
    if size:
        aim += " of any minibatch size" if size == ANY_MINIBATCH else f" at minibatch {size}"
    within = f" within {' and '.join(limits)}, risk {question['risk'] * 100:g} %" if limits else ""
    return f"{aim}{within}"
