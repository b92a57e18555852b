"""What the page Explore is asked beside the filters of runs, as it stands in the address."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from frontend.plan_extras_form import KNOB_LABELS, QUANTITY_LABELS
from profiling.knobs import KNOB_NAMES, Knobs
from profiling.models import Run
from profiling.selectors.exploring import Group, Sample, coverage, left_out_of_fitting, run_groups, run_sample
from profiling.selectors.heat import USUAL_HEAT, heat_map
from profiling.variability import (
    Curve,
    Outlier,
    base_mode,
    board_departures,
    coefficients_of_variation,
    one_factor,
    outliers,
    repeat_departures,
)


class Hold(NamedTuple):
    """A knob that the other plots and the map may be held at. options: value in the address, words."""

    name: str
    label: str
    chosen: str
    options: list[tuple[str, str]]


REST = {"min": "where it is least", "mean": "on average", "max": "where it is largest"}
OWN = ("group", *USUAL_HEAT)
MOST_OUTLIERS, MOST_STEPS = 100, 60


class ExploreForm(forms.Form):
    group = forms.ChoiceField(label="Runs of", required=False)
    value = forms.ChoiceField(label="Show", choices=list(QUANTITY_LABELS.items()))
    x = forms.ChoiceField(label="across", choices=list(KNOB_LABELS.items()))
    y = forms.ChoiceField(label="up", choices=list(KNOB_LABELS.items()))
    of = forms.ChoiceField(label="other knobs", choices=list(REST.items()))

    def __init__(self, asked: Mapping[str, str], groups: list[Group]) -> None:
        super().__init__({"group": "", **USUAL_HEAT, **asked})
        choices = [(group.key, group_words(group)) for group in groups]
        self.fields["group"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("x") == self.cleaned_data.get("y"):
            raise forms.ValidationError("Take two different knobs for across and up.")
        return self.cleaned_data


def knob_words(name: str, step: int) -> str:
    return str(step) if name == "cores" else f"{step / 1000:,.10g} MHz"


def group_words(group: Group) -> str:
    kind = "emulated" if group.emulated else "measured"
    place = f"{group.board}, {group.device_model}" if group.board else group.device_model
    return f"{group.workload} on {place}, minibatch {group.minibatch}, {kind} ({group.runs:,})"


class Explored:
    """The answers for one group of the runs asked for; each is worked out when it is looked at."""

    def __init__(self, runs: QuerySet[Run], asked: QueryDict) -> None:
        self.runs, self.asked, self.groups = runs, asked, run_groups(runs)
        wanted = asked.get("group", "")
        # Filters were changed and left nothing of the group looked at before.
        self.gone = wanted if all(group.key != wanted for group in self.groups) else ""
        names = [name for name in OWN if asked.get(name) and not (self.gone and name == "group")]
        self.form = ExploreForm({name: str(asked[name]) for name in names}, self.groups)
        self.valid = self.form.is_valid() and bool(self.groups)

    @cached_property
    def group(self) -> Group:
        wanted = self.form.cleaned_data["group"]
        return next((group for group in self.groups if group.key == wanted), self.groups[0])

    @property
    def quantity(self) -> str:
        return str(self.form.cleaned_data["value"])

    @property
    def holds(self) -> list[Hold]:
        """Of the knobs that are on no axis, and of those held already."""
        if not self.valid:
            return []
        axes = [self.form.cleaned_data[name] for name in ("x", "y")]
        return [self._hold(name) for name in KNOB_NAMES if name not in axes or self.asked.get(name)]

    def _hold(self, name: str) -> Hold:
        legal = {str(step): knob_words(name, step) for step in getattr(self.group.device_model, name)}
        now = self.asked.get(name, "")
        found = legal if now in ("", *legal) else {now: now, **legal}
        return Hold(name, KNOB_LABELS[name], now, [*found.items()])

    @property
    def role(self) -> str:
        return "--emulated" if self.group.emulated else "--measured"

    @cached_property
    def sample(self) -> Sample:
        return run_sample(self.runs, self.group, self.quantity)

    @cached_property
    def coverage(self) -> dict[str, Any]:
        chosen = self.form.cleaned_data
        return coverage(self.sample, self.group.device_model, chosen["x"], chosen["y"])

    @cached_property
    def map(self) -> dict[str, Any]:
        chosen = self.form.cleaned_data
        names = {name: chosen[name] for name in ("x", "y", "value", "of")}
        return heat_map(self.group.only(self.runs), **names)

    @cached_property
    def base(self) -> int:
        return base_mode(self.sample.modes)

    @property
    def base_words(self) -> str:
        knobs = self.sample.modes.settings[self.base, :4].tolist()
        return "partly unknown knobs" if min(knobs) < 0 else str(Knobs(*knobs))

    @cached_property
    def curves(self) -> list[Curve]:
        return one_factor(self.sample.modes, self.sample.values, self.base) if len(self.sample) else []

    @cached_property
    def departures(self) -> Any:
        return repeat_departures(self.sample.places, self.sample.values)

    @cached_property
    def spread(self) -> dict[str, Any] | None:
        """Of the modes that one board measured more than once; None where none did."""
        shares = coefficients_of_variation(self.sample.places, self.sample.values)
        if not len(shares):
            return None
        ends = 100 * np.percentile(shares, [50, 90, 100])
        return {"modes": len(shares), **dict(zip(("median", "p90", "most"), ends.tolist(), strict=True))}

    @cached_property
    def boards(self) -> dict[str, Any]:
        sample = self.sample
        names = sample.board_names()
        found = board_departures(sample.settings, sample.values, sample.boards)
        return {names[board]: logs for board, logs in found.items()}

    @cached_property
    def outliers(self) -> list[Outlier]:
        sample = self.sample
        return outliers(sample.modes, sample.places, sample.values, one_way=self.quantity != "energy_mj")

    @cached_property
    def quartiles(self) -> list[float]:
        """Least, lower quartile, median, upper quartile and largest of the values, as stored."""
        return np.percentile(self.sample.values, [0, 25, 50, 75, 100]).tolist()

    @cached_property
    def histogram(self) -> tuple[Any, Any]:
        """Runs in each step of the values (n,), and the ends of the steps (n + 1,), as stored."""
        steps = min(MOST_STEPS, math.ceil(math.sqrt(len(self.sample))))
        return np.histogram(self.sample.values, bins=steps)

    @cached_property
    def flagged(self) -> int:
        return left_out_of_fitting(self.group.only(self.runs))
