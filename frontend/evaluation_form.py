"""What people ask the leaderboard: filters, an evaluation to compute, a report to bring in."""

from typing import Any

from django import forms

from frontend.forms import METHOD_TITLES
from modeling.core.predictors import METHODS
from modeling.core.sampling import STRATEGIES
from modeling.evaluation_file import results_in
from profiling.errors import InvalidInput
from profiling.models import DeviceModel, Workload

MOST_MODES, MOST_COUNTS = 200, 8
SAMPLING_WORDS = {
    "random": "random modes",
    "grid": "an even grid",
    "spread": "far apart from each other",
    "active": "chosen by the predictor",
    "recommended": "four modes a paper recommends",
}


class LeaderboardForm(forms.Form):
    def __init__(self, data: Any, choices: dict[str, list[str]]) -> None:
        super().__init__(data)
        for name, known in choices.items():
            options = [("", "all"), *((each, each) for each in known)]
            self.fields[name] = forms.ChoiceField(choices=options, required=False)

    @property
    def chosen(self) -> dict[str, str]:
        """As the address has them; what is not known matches nothing."""
        return {name: str(self.data.get(name, "")) for name in self.fields}


class EvaluationForm(forms.Form):
    workload = forms.ModelChoiceField(
        Workload.objects.all(),
        to_field_name="slug",
        empty_label="choose",
        help_text="Measured in 100 or more modes: they are the truth predictions are held against.",
    )
    device_model = forms.ModelChoiceField(
        DeviceModel.objects.all(), to_field_name="slug", empty_label="choose", label="Measured on"
    )
    methods = forms.MultipleChoiceField(
        choices=[(name, METHOD_TITLES.get(name, name)) for name in METHODS],
        widget=forms.CheckboxSelectMultiple,
        initial=["roofline", "gp", "linear", "nearest"],
    )
    counts = forms.CharField(
        label="How many modes are profiled",
        initial="5, 10, 20, 50",
        max_length=60,
        help_text="Up to eight numbers.",
    )
    repeats = forms.IntegerField(min_value=1, max_value=20, initial=5, help_text="Each with other modes.")
    sampling = forms.ChoiceField(
        label="Which modes are profiled",
        choices=[(name, SAMPLING_WORDS[name]) for name in STRATEGIES],
        initial="random",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, initial=0, help_text="The same seed draws the same modes."
    )
    verify = forms.BooleanField(required=False, label="Verified picks: measure each pick, up to three times")

    def clean_counts(self) -> list[int]:
        words = self.cleaned_data["counts"].replace(",", " ").split()
        wrong = [word for word in words if not word.isdecimal() or not 1 <= int(word) <= MOST_MODES]
        if wrong or not 1 <= len(words) <= MOST_COUNTS:
            said = f"Give one to {MOST_COUNTS} numbers from 1 to {MOST_MODES}."
            raise forms.ValidationError(f"{said} {', '.join(wrong)[:60]}".strip())
        return sorted({int(word) for word in words})


class ReportForm(forms.Form):
    title = forms.CharField(max_length=200, help_text="Such as: public tables, references resnet and lstm.")
    report = forms.FileField(label="Report", help_text="What evaluate --json printed.")
    emulated = forms.BooleanField(required=False, label="The target was an emulated board")

    def clean_report(self) -> list[dict[str, Any]]:
        try:
            return results_in(self.cleaned_data["report"].read())
        except InvalidInput as error:
            raise forms.ValidationError(error.message) from error
