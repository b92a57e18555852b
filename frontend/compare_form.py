"""What the page Compare is asked, as it stands in the address."""

from functools import cached_property
from typing import Any

from django import forms
from django.http import QueryDict

from frontend.explore_form import group_words
from frontend.plan_extras_form import QUANTITY_LABELS
from modeling.comparing import Ratio, ratio_of
from modeling.selectors.comparisons import (
    Scaling,
    Standing,
    Subject,
    scaling_by_length,
    scaling_by_minibatch,
    shared_modes,
    standing_at,
    stock_names,
    subject_list,
)

MOST, USUAL, MOST_OFFERED = 8, 4, 60
AT = {
    "maxn": "all clocks at their highest",
    "fastest": "each one's fastest measured mode",
    "least_power": "each one's leanest measured mode",
    "least_energy": "each one's measured mode of least energy",
}
AUDIO_HZ = 16_000  # what wav2vec2 takes; "High-level frameworks" and "Transformer transcription" use it


class CompareForm(forms.Form):
    of = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="What to compare")
    at = forms.ChoiceField(label="In which mode")
    reference = forms.ChoiceField(label="Speed-up against")
    rate_hz = forms.FloatField(
        required=False,
        min_value=1e-9,
        label="Input values a second",
        help_text="Of sound, its sampling rate: gives the realtime factor.",
        widget=forms.NumberInput({"step": "any", "placeholder": "none"}),
    )
    first = forms.ChoiceField(label="Across")
    second = forms.ChoiceField(label="up")
    value = forms.ChoiceField(label="Show", choices=list(QUANTITY_LABELS.items()))

    def __init__(self, asked: QueryDict, subjects: list[Subject]) -> None:
        every = [(subject.key, group_words(subject.group)) for subject in subjects]
        known = dict(every)
        chosen = [key for key in asked.getlist("of") if key in known][:MOST]
        own = [each.key for each in subjects if each.group.workload.slug in asked.getlist("workload")]
        chosen = chosen or (own or [key for key, _ in every])[:USUAL]
        given = {name: asked[name] for name in self.base_fields if name != "of" and asked.get(name)}
        usual = {"at": "maxn", "value": "time_ms", **_ends(chosen), **_rate(subjects, chosen)}
        data = {**usual, **given, "of": chosen}
        for name in ("reference", "first", "second"):
            if data[name] not in chosen:
                data[name] = usual[name]  # a subject that was taken out of the comparison
        super().__init__(data)
        offered = [pair for pair in every if pair[0] in chosen] + [
            pair for pair in every[:MOST_OFFERED] if pair[0] not in chosen
        ]
        picked = [(key, known[key]) for key in chosen]
        stock = stock_names([subject for subject in subjects if subject.key in chosen])
        modes = [*AT.items(), *((f"stock:{name}", f"stock mode {name}") for name in stock)]
        for name, choices in (("of", offered), ("at", modes)):
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        for name in ("reference", "first", "second"):
            self.fields[name].choices = picked  # type: ignore[attr-defined]


def _ends(chosen: list[str]) -> dict[str, str]:
    first, second = (chosen[0], chosen[min(1, len(chosen) - 1)]) if chosen else ("", "")
    return {"reference": first, "first": first, "second": second}


def _rate(subjects: list[Subject], chosen: list[str]) -> dict[str, int]:
    networks = [subject.group.workload.network.lower() for subject in subjects if subject.key in chosen]
    return {"rate_hz": AUDIO_HZ} if any(network.startswith("wav2vec") for network in networks) else {}


ASKS = (*CompareForm.base_fields, "workload")


class Row:
    """A subject in the table: its letter in the plots, and all that follows from time and power."""

    def __init__(self, letter: str, standing: Standing, reference: Standing, rate_hz: float | None) -> None:
        self.letter, self.standing, self.subject = letter, standing, standing.subject
        self.time_ms, self.power_mw = standing.time_ms, standing.power_mw
        self.samples_per_s, self.samples_per_j = standing.samples_per_s, standing.samples_per_j
        energy, size = standing.energy_mj, standing.subject.group.minibatch
        self.energy_j = None if energy is None else energy / 1000
        self.sample_j = None if energy is None else energy / 1000 / size
        self.realtime = standing.realtime(rate_hz)
        own, other = standing.samples_per_s, reference.samples_per_s
        self.speedup = None if own is None or other is None else own / other
        power = standing.power_mw
        self.realtime_per_w = (
            None if self.realtime is None or power is None else 1000 * self.realtime / power.value
        )

    @property
    def role(self) -> str:
        return f"--{self.standing.origin or 'infeasible'}"


class Comparison:
    """The answers; each is worked out when it is looked at."""

    def __init__(self, asked: QueryDict) -> None:
        self.every, self.asked = subject_list(), asked
        self.form = CompareForm(asked, self.every)
        self.valid = bool(self.every) and self.form.is_valid()

    @cached_property
    def subjects(self) -> list[Subject]:
        by_key = {subject.key: subject for subject in self.every}
        return [by_key[key] for key in self.form.cleaned_data["of"]]

    @property
    def faults(self) -> list[str]:
        """Subjects the address names that are not compared."""
        given = [key for key in dict.fromkeys(self.asked.getlist("of")) if key]
        known = {subject.key for subject in self.every}
        gone = [f"Nothing is known of {key[:200]}. Left out." for key in given if key not in known]
        more = len(given) - len(gone) - MOST
        return [*gone, *([f"{MOST} are compared at most. Left out: {more} more."] if more > 0 else [])]

    compare_names, pair_names = ("at", "reference", "rate_hz"), ("first", "second", "value")

    @property
    def compare_fields(self) -> list[forms.BoundField]:
        return [self.form[name] for name in self.compare_names]

    @property
    def pair_fields(self) -> list[forms.BoundField]:
        return [self.form[name] for name in self.pair_names]

    @property
    def kept(self) -> list[tuple[str, Any]]:
        """What the form of two carries along."""
        data = self.form.data
        plain = [(name, data[name]) for name in self.compare_names if data.get(name)]
        return [*(("of", key) for key in data["of"]), *plain]

    def subject(self, name: str) -> Subject:
        return next(each for each in self.subjects if each.key == self.form.cleaned_data[name])

    @cached_property
    def rows(self) -> list[Row]:
        at, rate = self.form.cleaned_data["at"], self.form.cleaned_data["rate_hz"]
        standings = {subject.key: standing_at(subject, at) for subject in self.subjects}
        reference = standings[self.form.cleaned_data["reference"]]
        return [
            Row(letter, standings[subject.key], reference, rate)
            for letter, subject in zip("ABCDEFGH", self.subjects, strict=False)
        ]

    @cached_property
    def across_stock(self) -> dict[str, list[Standing]]:
        """Stock mode → each subject in it."""
        names = stock_names(self.subjects)
        return {name: [standing_at(subject, f"stock:{name}") for subject in self.subjects] for name in names}

    @cached_property
    def scalings(self) -> list[Scaling]:
        found = {
            (scaling.title, scaling.along, scaling.emulated): scaling
            for subject in self.subjects
            for scaling in (scaling_by_length(subject, self.every), scaling_by_minibatch(subject))
            if scaling is not None
        }
        return list(found.values())

    @cached_property
    def shared(self) -> tuple[Any, Any, Any]:
        value = self.form.cleaned_data["value"]
        return shared_modes(self.subject("first"), self.subject("second"), value)

    @cached_property
    def ratio(self) -> Ratio | None:
        _, first, second = self.shared
        return ratio_of(first, second)
