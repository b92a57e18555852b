"""What the sections under a plan are asked, as it stands in the address beside the plan's own question."""

from collections.abc import Mapping

from django import forms

from modeling.selectors.explorations import EXTENT_NAMES, QUANTITIES
from profiling.errors import InvalidInput
from profiling.knobs import KNOB_NAMES
from profiling.models import Device, DeviceModel

KNOB_LABELS = dict(zip(KNOB_NAMES, ("cores", "CPU clock", "GPU clock", "memory clock"), strict=True))
QUANTITY_LABELS = dict(zip(QUANTITIES, ("time", "power", "energy"), strict=True))
# The name in the address, and the extent's unit in units of the address, by the extent's name.
BRUSHES = dict(
    zip(
        EXTENT_NAMES,
        (
            ("cores", 1),
            ("cpu_mhz", 1000),
            ("gpu_mhz", 1000),
            ("mem_mhz", 1000),
            ("time_ms", 1),
            ("power_w", 1000),
            ("energy_j", 1000),
        ),
        strict=True,
    )
)
DEFAULTS = {
    "map_x": "cpu_khz",
    "map_y": "gpu_khz",
    "map_of": "energy_mj",
    "map_rest": "choice",
    "map_as": "flat",
    "knob_of": "time_ms",
    "epochs": "10",
}
MOST_PINS = 4
WRITTEN = {"cpu": "CPU", "gpu": "GPU", "mem": "memory", "mhz": "MHz", "w": "W", "j": "J"}


def positive(label: str, unit: str) -> forms.FloatField:
    attributes = {"step": "any", "min": "0", "placeholder": "—", "data-unit": unit}
    return forms.FloatField(
        label=label, required=False, min_value=1e-9, widget=forms.NumberInput(attrs=attributes)
    )


class ExtrasForm(forms.Form):
    map_of = forms.ChoiceField(label="Show", choices=list(QUANTITY_LABELS.items()))
    map_x = forms.ChoiceField(label="across", choices=list(KNOB_LABELS.items()))
    map_y = forms.ChoiceField(label="up", choices=list(KNOB_LABELS.items()))
    map_rest = forms.ChoiceField(
        label="other knobs", choices=[("choice", "as chosen"), ("least", "where it is least")]
    )
    map_as = forms.ChoiceField(label="as", choices=[("flat", "map"), ("surface", "3-D surface")])
    knob_of = forms.ChoiceField(label="Show", choices=list(QUANTITY_LABELS.items()))
    epochs = positive("Epochs", "epochs")
    battery_wh = positive("Battery", "Wh")
    price = positive("Price", "a kWh")
    deadline_h = positive("Deadline", "h")
    sun_wh = positive("Sun", "Wh a day")
    cooling_w = positive("Cooling", "W")
    device = forms.ModelChoiceField(
        Device.objects.none(), to_field_name="slug", required=False, label="Board", empty_label="choose"
    )
    pin = forms.RegexField(r"^\d{1,7}(,\d{1,7})*$", required=False, widget=forms.HiddenInput)
    brush = forms.CharField(required=False, max_length=300, widget=forms.HiddenInput)
    open = forms.RegexField(r"^[a-z,]{1,80}$", required=False, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, str], device_model: DeviceModel) -> None:
        super().__init__(DEFAULTS | {name: data[name] for name in data})
        boards = Device.objects.filter(device_model=device_model, retired=False)
        self.fields["device"].queryset = boards  # type: ignore[attr-defined]

    def clean_pin(self) -> list[int]:
        pins = [int(rank) for rank in self.cleaned_data["pin"].split(",") if rank]
        if len(pins) > MOST_PINS:
            raise forms.ValidationError(f"At most {MOST_PINS} modes can be compared with the chosen one.")
        return list(dict.fromkeys(pins))

    def clean_brush(self) -> dict[str, tuple[float, float]]:
        """'power_w:10:20,cores:4:8' as extents in the quantities' own units."""
        names = {shown: (name, factor) for name, (shown, factor) in BRUSHES.items()}
        extents = {}
        for part in filter(None, self.cleaned_data["brush"].split(",")):
            shown, *ends = part.split(":")
            if shown not in names or len(ends) != 2:
                raise forms.ValidationError(f"{part} is not NAME:LEAST:LARGEST.")
            name, factor = names[shown]
            extents[name] = (number(ends[0]) * factor, number(ends[1]) * factor)
        return extents

    @property
    def opened(self) -> list[str]:
        return (self["open"].value() or "").split(",")

    @property
    def map_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("map_of", "map_x", "map_y", "map_rest", "map_as")]

    @property
    def what_if_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("epochs", "deadline_h", "battery_wh", "price", "sun_wh", "cooling_w")]


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise forms.ValidationError(f"{text} is not a number.") from error


def asked_extras(data: Mapping[str, str], device_model: DeviceModel) -> ExtrasForm:
    form = ExtrasForm(data, device_model)
    if not form.is_valid():
        raise InvalidInput(" ".join(f"{name}: {said[0]}" for name, said in form.errors.items()))
    return form


def label_and_unit(shown: str) -> tuple[str, str]:
    """('CPU', 'MHz') of 'cpu_mhz'."""
    label, _, unit = shown.partition("_")
    return WRITTEN.get(label, label), WRITTEN.get(unit, unit)


def brush_words(extents: Mapping[str, tuple[float, float]]) -> str:
    """'power 10 to 20 W and cores 4 to 8'"""
    parts = []
    for name, (low, high) in extents.items():
        shown, factor = BRUSHES[name]
        label, unit = label_and_unit(shown)
        parts.append(f"{label} {low / factor:.4g} to {high / factor:.4g} {unit}".strip())
    return " and ".join(parts)
