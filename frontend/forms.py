"""What people type, parsed into what services take. No form saves anything."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from modeling.core.predictors import METHODS
from profiling.errors import InvalidInput
from profiling.models import ApiToken, Device, DeviceModel, Workload

T = TypeVar("T")
MOST_STORED = 2**31 - 1  # of a whole number that goes into a column
METHOD_TITLES = {
    "roofline": "roofline: this site's own, a formula of the hardware corrected by what was measured",
    "powertrain": "powertrain: neural networks transferred from a reference",
    "nn": "nn: neural networks from scratch",
    "gp": "gp: Gaussian process",
    "linear": "linear regression",
    "universal": "universal: one formula of energy for all workloads",
    "nearest": "nearest measured mode (baseline)",
    "maxn": "MAXN for every mode (baseline)",
}


def attempt(form: forms.Form, service: Callable[..., T], **fields: Any) -> T | None:
    """The service's answer; None when it refused the input, which the form then says field by field."""
    try:
        return service(**fields)
    except InvalidInput as error:
        faults = error.extra.get("errors")
        named = faults if isinstance(faults, dict) else {}
        for name, said in named.items():
            form.add_error(name if name in form.fields else None, said)
        if not named:
            form.add_error(None, error.message)
        return None


class WorkloadForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="As your lab calls it, such as ResNet-18 / ImageNet.")
    kind = forms.ChoiceField(choices=Workload.Kind.choices)
    network = forms.CharField(max_length=80, help_text="Such as ResNet-18.")
    dataset = forms.CharField(max_length=80, required=False, help_text="Such as ImageNet.")
    minibatch = forms.IntegerField(min_value=1, help_text="Samples worked on at a time, such as 16.")
    samples_per_epoch = forms.IntegerField(
        min_value=1, required=False, help_text="Without it, epoch times stay unknown."
    )
    loader_workers = forms.IntegerField(
        min_value=0, required=False, help_text="Processes that load data beside the network."
    )
    sequence_length = forms.IntegerField(
        min_value=1, required=False, help_text="Words, or other values, of one input."
    )
    precision = forms.CharField(max_length=20, required=False, help_text="fp32, fp16, bf16 or int8.")
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))

    @classmethod
    def of(cls, workload: Workload, data: QueryDict | None) -> "WorkloadForm":
        return cls(data, initial={name: getattr(workload, name) for name in cls.base_fields})


class DatasetForm(forms.Form):
    name = forms.CharField(max_length=100)
    licence = forms.CharField(max_length=100, help_text="Such as CC-BY-4.0, or none.")
    description = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What a reader who was not there must know.",
    )
    citation = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files at once; a list when clean."""

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list) else [data]
        if empty := [file.name for file in files if file and not file.size]:
            raise forms.ValidationError(f"Nothing was sent yet: {', '.join(empty)} is empty.")
        return [super(FilesField, self).clean(file, initial) for file in files] if files else []


class UploadForm(forms.Form):
    device_model = forms.ModelChoiceField(
        DeviceModel.objects.all(),
        to_field_name="slug",
        empty_label="choose",
        help_text="What it was measured on.",
    )
    device = forms.ModelChoiceField(
        Device.objects.filter(retired=False),
        to_field_name="slug",
        required=False,
        empty_label="not one of ours",
        label="Board",
    )
    file = FilesField(
        widget=FilesInput,
        label="Files",
        help_text="CSV, Excel, Parquet, JSON, a tegrastats or jtop log, also zipped; a zip of run folders.",
    )
    repeats = forms.ChoiceField(
        choices=[("refuse", "a bad line, to be looked at"), ("keep", "a repeat, kept as a run of its own")],
        initial="refuse",
        required=False,
        label="A mode again with other values is",
    )
    emulated = forms.BooleanField(required=False, label="These numbers come from an emulated board")

    def clean_repeats(self) -> str:
        return self.cleaned_data["repeats"] or "refuse"


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What will use it: notebook, CI, the board on shelf 2.")
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, f"{scope.value}: {scope.label}") for scope in ApiToken.Scope],
        widget=forms.CheckboxSelectMultiple,
        initial=["read"],
        label="What it may do",
    )
    device = forms.ModelChoiceField(
        Device.objects.filter(retired=False),
        to_field_name="slug",
        required=False,
        empty_label="none",
        label="Board",
        help_text="Only with “device” above: the board whose runs it delivers.",
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=366,
        initial=90,
        required=False,
        label="Valid for, days",
        help_text="Empty: for ever, for a board's token only.",
    )


class DeviceForm(forms.Form):
    name = forms.CharField(max_length=90)
    driver = forms.ChoiceField(
        choices=Device.Driver.choices,
        help_text="How its clocks are set and its power is read. A Jetson: sysfs, the kernel's own files.",
    )
    device_model = forms.ModelChoiceField(
        DeviceModel.objects.exclude(generation=DeviceModel.HOST),
        to_field_name="slug",
        required=False,
        empty_label="none: an ordinary machine",
        help_text="The Jetson product it is. Needed unless the driver is that of an ordinary machine.",
    )
    location = forms.CharField(max_length=100, required=False, help_text="Such as shelf 2.")


class BoardsForm(forms.Form):
    text = forms.CharField(
        required=False,
        label="Table",
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "table-text"}),
        help_text="The first line names the columns: name, and any of driver, device_model, location, notes.",
    )
    file = forms.FileField(required=False, label="Or a file", help_text="CSV, in UTF-8.")


class PredictorForm(forms.Form):
    workload = forms.ModelChoiceField(Workload.objects.all(), to_field_name="slug", empty_label="choose")
    device_model = forms.ModelChoiceField(
        DeviceModel.objects.all(), to_field_name="slug", empty_label="choose"
    )
    method = forms.ChoiceField(
        choices=[("", "the recommended one"), *((name, METHOD_TITLES.get(name, name)) for name in METHODS)],
        required=False,
    )
    references = forms.ModelMultipleChoiceField(
        Workload.objects.all(),
        to_field_name="slug",
        required=False,
        help_text="Well-measured workloads to learn from. None chosen: picked for you.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MOST_STORED,
        required=False,
        initial=0,
        help_text="The same seed gives the same predictor.",
    )

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] or 0
