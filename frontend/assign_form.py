"""What the page "Several boards" is asked, as it stands in the address."""

from typing import Any

from django import forms
from django.http import QueryDict

from frontend.plan_extras_form import positive
from profiling.models import Device, Workload
from profiling.selectors.devices import device_list
from profiling.selectors.workloads import workload_list

MOST = 12
AIMS = (
    ("energy", "least energy"),
    ("time", "least time"),
    ("latest", "all done soonest"),
)
USUAL = {"epochs": "10", "aim": "latest", "risk": "5"}


class AssignForm(forms.Form):
    workload = forms.ModelMultipleChoiceField(
        Workload.objects.none(),
        to_field_name="slug",
        label="Workloads",
        widget=forms.CheckboxSelectMultiple,
    )
    board = forms.ModelMultipleChoiceField(
        Device.objects.none(), to_field_name="slug", label="Boards", widget=forms.CheckboxSelectMultiple
    )
    epochs = positive("Epochs of each", "epochs")
    power_w = positive("Power of a board ≤", "W")
    risk = forms.FloatField(
        label="Risk", min_value=1, max_value=50, widget=forms.NumberInput({"data-unit": "%"})
    )
    aim = forms.ChoiceField(label="Aim", choices=AIMS)

    def __init__(self, asked: QueryDict) -> None:
        given = {name: asked[name] for name in ("epochs", "power_w", "risk", "aim") if asked.get(name)}
        lists = {name: asked.getlist(name) for name in ("workload", "board")}
        super().__init__({**USUAL, **given, **lists})
        self.fields["workload"].queryset = workload_list()  # type: ignore[attr-defined]
        self.fields["board"].queryset = device_list().filter(retired=False)  # type: ignore[attr-defined]
        self.fields["epochs"].required = True

    def clean(self) -> dict[str, Any]:
        for name in ("workload", "board"):
            if len(self.cleaned_data.get(name, ())) > MOST:
                self.add_error(name, f"At most {MOST} at once.")
        return self.cleaned_data

    @property
    def choices(self) -> list[forms.BoundField]:
        return [self["workload"], self["board"]]

    @property
    def terms(self) -> list[forms.BoundField]:
        return [self[name] for name in ("epochs", "power_w", "risk", "aim")]

    def question(self) -> dict[str, Any]:
        asked = self.cleaned_data
        return {
            "workloads": list(asked["workload"]),
            "boards": list(asked["board"]),
            "epochs": asked["epochs"],
            "aim": asked["aim"],
            "power_mw": asked["power_w"] and asked["power_w"] * 1000,
            "risk": asked["risk"] / 100,
        }
