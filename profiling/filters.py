"""Which runs: the same filters in the page's address and in the API's."""

from datetime import UTC
from typing import Any

import django_filters as filters
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import EMPTY_VALUES, MaxValueValidator
from django.db.models import F, Q, QuerySet
from django.db.models.lookups import GreaterThan, In

from profiling.flags import BIT, FLAGS
from profiling.models import Device, DeviceModel, Run, Upload, Workload
from profiling.selectors.heat import AXES, OF, VALUES
from profiling.selectors.runs import cheapest_first, run_history

RANGE = ["exact", "gte", "lte"]
MOST_WORDS = 8
MOST_KEYS = 1000


class IdFilter(filters.NumberFilter):
    def get_max_validator(self) -> MaxValueValidator:
        return MaxValueValidator(2**63 - 1)


class MomentField(forms.DateTimeField):
    """The calendar's first and last hours are outside of it in other time zones, as databases tell them."""

    def to_python(self, value: Any) -> Any:
        told = super().to_python(value)
        try:
            return told and told.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


class EndField(MomentField):
    """A day alone means all of it."""

    def to_python(self, value: Any) -> Any:
        day = isinstance(value, str) and ":" not in value and bool(value.strip())
        return super().to_python(f"{value.strip()} 23:59:59.999999" if day else value)


class FromFilter(filters.DateTimeFilter):
    field_class = MomentField


class UntilFilter(filters.DateTimeFilter):
    field_class = EndField


class BooleanField(forms.Field):
    """Django's takes any word it does not know for no answer, which here would be no filter."""

    def to_python(self, value: Any) -> bool | None:
        if value in EMPTY_VALUES:
            return None
        word = str(value).lower()
        if word not in ("true", "1", "false", "0"):
            raise forms.ValidationError("Either true or false.")
        return word in ("true", "1")


class BooleanFilter(filters.BooleanFilter):
    field_class = BooleanField


class RunFilter(filters.FilterSet):
    workload = filters.ModelChoiceFilter(
        queryset=Workload.objects.all(), to_field_name="slug", empty_label="any"
    )
    device_model = filters.ModelChoiceFilter(
        queryset=DeviceModel.objects.all(), to_field_name="slug", label="Device model", empty_label="any"
    )
    device = filters.ModelChoiceFilter(queryset=Device.objects.all(), to_field_name="slug", empty_label="any")
    state = filters.ChoiceFilter(choices=Run.State.choices, empty_label="any")
    emulated = filters.ChoiceFilter(
        choices=[("true", "emulated"), ("false", "real")],
        label="Source",
        empty_label="any",
        method="filter_emulated",
    )
    sweep = IdFilter()
    upload = IdFilter()
    cores = filters.NumberFilter()
    minibatch = filters.NumberFilter()

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(self, data: Any = None, queryset: QuerySet[Run] | None = None, **more: Any) -> None:
        if queryset is not None and data and data.get("state") == Run.State.SUPERSEDED:
            queryset = run_history()
        super().__init__(data, queryset, **more)

    def filter_queryset(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        return cheapest_first(super().filter_queryset(runs))

    def filter_emulated(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs.filter(emulated=value == "true")


class RunApiFilter(RunFilter):
    """With the ranges and flags for which the page has no room."""

    search = filters.CharFilter(method="with_words", label="words in workload, board or file; or a number")
    kind = filters.ChoiceFilter(choices=Workload.Kind.choices, method="with_kind")
    flag = filters.ChoiceFilter(
        choices=[(flag, flag) for flag in FLAGS], method="with_flag", label="carries this quality flag"
    )
    uploader = filters.CharFilter(method="with_uploader", label="who uploaded it")
    flagged = BooleanFilter(method="with_any_flag", label="carries any quality flag")
    created__gte = FromFilter(field_name="created", lookup_expr="gte")
    created__lte = UntilFilter(field_name="created", lookup_expr="lte")
    measured_at__gte = FromFilter(field_name="measured_at", lookup_expr="gte")
    measured_at__lte = UntilFilter(field_name="measured_at", lookup_expr="lte")

    class Meta:
        model = Run
        fields = {
            "id": ["gte", "lte"],
            "minibatch": RANGE,
            "cores": RANGE,
            "cpu_khz": RANGE,
            "gpu_khz": RANGE,
            "mem_khz": RANGE,
            "time_ms": ["gte", "lte"],
            "power_mw": ["gte", "lte"],
            "energy_mj": ["gte", "lte"],
        }

    def with_words(self, runs: QuerySet[Run], name: str, text: str) -> QuerySet[Run]:
        for word in text.split()[:MOST_WORDS]:
            told = _told(word)
            runs = runs.filter(told) if told else runs.none()
        return runs

    def with_kind(self, runs: QuerySet[Run], name: str, kind: str) -> QuerySet[Run]:
        """By keys: a join tempts SQLite to start from the workloads, and to sort all it finds."""
        return runs.filter(workload__in=_keys(Workload.objects.filter(kind=kind)))

    def with_uploader(self, runs: QuerySet[Run], name: str, username: str) -> QuerySet[Run]:
        """With + 0, which keeps SQLite from the index of uploads: somebody may have uploaded every run, and
        all of them would be looked up and sorted."""
        uploads = Upload.objects.filter(uploader__username=username)
        return runs.filter(In(F("upload_id") + 0, uploads.values("pk"))) if uploads.exists() else runs.none()

    def with_flag(self, runs: QuerySet[Run], name: str, flag: str) -> QuerySet[Run]:
        return runs.filter(GreaterThan(F("flag_bits").bitand(BIT[flag]), 0))

    def with_any_flag(self, runs: QuerySet[Run], name: str, flagged: bool) -> QuerySet[Run]:
        return runs.filter(flag_bits__gt=0) if flagged else runs.filter(flag_bits=0)


def _told(word: str) -> Q:
    """Runs a word speaks of, by what they point at, which the index of runs holds; empty if of nothing."""
    named = Q(name__icontains=word)
    speaks: dict[str, QuerySet[Any]] = {
        "workload": Workload.objects.filter(named | Q(network__icontains=word) | Q(dataset__icontains=word)),
        "device_model": DeviceModel.objects.filter(named),
        "device": Device.objects.filter(named),
        "upload": Upload.objects.filter(filename__icontains=word),
    }
    told = Q(pk=int(word)) if word.isdecimal() and len(word) < 19 else Q()
    for field, found in speaks.items():
        if keys := _keys(found):
            told |= Q(**{f"{field}__in": keys})
    return told


def _keys(found: QuerySet[Any]) -> list[Any] | QuerySet[Any]:
    """As plain numbers while they are few: PostgreSQL counts faster by them than by a subquery."""
    keys = list(found.order_by().values_list("pk", flat=True)[: MOST_KEYS + 1])
    return keys if len(keys) <= MOST_KEYS else found.values("pk")


class RunExportFilter(RunApiFilter):
    package = BooleanFilter(method="ignored", label="as a zip, with its provenance beside it")

    def ignored(self, runs: QuerySet[Run], name: str, value: bool) -> QuerySet[Run]:
        return runs


class RunHeatFilter(RunApiFilter):
    x = filters.ChoiceFilter(choices=[(name, name) for name in AXES], method="ignored", label="knob across")
    y = filters.ChoiceFilter(choices=[(name, name) for name in AXES], method="ignored", label="knob upwards")
    value = filters.ChoiceFilter(choices=[(name, name) for name in VALUES], method="ignored")
    of = filters.ChoiceFilter(
        choices=[(name, name) for name in OF], method="ignored", label="what stands for the runs of a cell"
    )

    def ignored(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs


class DeviceFilter(filters.FilterSet):
    device_model = filters.ModelChoiceFilter(queryset=DeviceModel.objects.all(), to_field_name="slug")

    retired = BooleanFilter()

    class Meta:
        model = Device
        fields = ["device_model", "driver", "retired"]


class WorkloadFilter(filters.FilterSet):
    class Meta:
        model = Workload
        fields = {
            "kind": ["exact"],
            "network": ["exact", "icontains"],
            "dataset": ["exact", "icontains"],
            "name": ["icontains"],
            "minibatch": RANGE,
        }


class UploadFilter(filters.FilterSet):
    workload = filters.ModelChoiceFilter(queryset=Workload.objects.all(), to_field_name="slug")
    device_model = filters.ModelChoiceFilter(queryset=DeviceModel.objects.all(), to_field_name="slug")
    uploader = filters.CharFilter(field_name="uploader__username")
    emulated = BooleanFilter()
    created__gte = FromFilter(field_name="created", lookup_expr="gte")
    created__lte = UntilFilter(field_name="created", lookup_expr="lte")

    class Meta:
        model = Upload
        fields = {"state": ["exact"], "sha256": ["exact"], "emulated": ["exact"]}
