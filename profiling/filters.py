"""Which runs: the same filters in the page's address and in the API's."""

from typing import Any

import django_filters as filters
from django.db.models import F, Q, QuerySet
from django.db.models.lookups import GreaterThan, In

from profiling.filter_fields import (
    BooleanFilter,
    ChoicesFilter,
    FacetedFilter,
    FromFilter,
    IdFilter,
    NumbersFilter,
    SeveralFilter,
    SlugsField,
    SlugsFilter,
    TruthsFilter,
    UntilFilter,
    WordsFilter,
)
from profiling.flags import BIT, FLAGS
from profiling.models import Dataset, Device, DeviceModel, Run, Upload, Workload
from profiling.selectors.heat import AXES, OF, VALUES
from profiling.selectors.runs import cheapest_first, run_history

RANGE = ["exact", "gte", "lte"]
MOST_WORDS = 8
MOST_KEYS = 1000


class RunApiFilter(FacetedFilter):
    workload = SlugsFilter(queryset=Workload.objects.all())
    device_model = SlugsFilter(queryset=DeviceModel.objects.all(), label="Device model")
    device = SlugsFilter(queryset=Device.objects.all())
    state = ChoicesFilter(choices=Run.State.choices)
    emulated = TruthsFilter(yes="emulated", no="real", label="Source")
    sweep = IdFilter()
    upload = IdFilter()
    cores = filters.NumberFilter()
    minibatch = filters.NumberFilter()
    search = WordsFilter(method="with_words", label="words in workload, board or file; or a number")
    kind = ChoicesFilter(choices=Workload.Kind.choices, method="with_kind")
    flag = ChoicesFilter(
        choices=[(flag, flag) for flag in FLAGS], method="with_flag", label="carries this quality flag"
    )
    uploader = SeveralFilter(
        field_name="upload__uploader__username", method="with_uploader", label="who uploaded it"
    )
    flagged = TruthsFilter(
        yes="any flag", no="no flag", method="with_any_flag", label="carries any quality flag"
    )
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

    def __init__(self, data: Any = None, queryset: QuerySet[Run] | None = None, **more: Any) -> None:
        super().__init__(data, queryset, **more)
        if queryset is not None and self.is_bound and Run.State.SUPERSEDED in self.data.getlist("state"):
            self.queryset = run_history()

    def filter_queryset(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        return cheapest_first(super().filter_queryset(runs))

    def with_words(self, runs: QuerySet[Run], name: str, text: str) -> QuerySet[Run]:
        for word in text.split()[:MOST_WORDS]:
            told = _told(word)
            runs = runs.filter(told) if told else runs.none()
        return runs

    def with_kind(self, runs: QuerySet[Run], name: str, kinds: list[str]) -> QuerySet[Run]:
        """By keys: a join tempts SQLite to start from the workloads, and to sort all it finds."""
        return runs.filter(workload__in=_keys(Workload.objects.filter(kind__in=kinds)))

    def with_uploader(self, runs: QuerySet[Run], name: str, usernames: list[str]) -> QuerySet[Run]:
        """With + 0, which keeps SQLite from the index of uploads: somebody may have uploaded every run, and
        all of them would be looked up and sorted."""
        uploads = Upload.objects.filter(uploader__username__in=usernames)
        return runs.filter(In(F("upload_id") + 0, uploads.values("pk"))) if uploads.exists() else runs.none()

    def with_flag(self, runs: QuerySet[Run], name: str, flags: list[str]) -> QuerySet[Run]:
        any_of = sum(BIT[flag] for flag in flags)
        return runs.filter(GreaterThan(F("flag_bits").bitand(any_of), 0))

    def with_any_flag(self, runs: QuerySet[Run], name: str, flagged: list[str]) -> QuerySet[Run]:
        if len(flagged) > 1:
            return runs
        return runs.filter(flag_bits__gt=0) if flagged == ["true"] else runs.filter(flag_bits=0)


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


class NamedToo(SlugsField):
    """Earlier addresses of the page of boards have the names of device models."""

    def clean(self, value: Any) -> list[Any]:
        slugs = dict(self.queryset.values_list("name", "slug")) if value else {}
        return super().clean([slugs.get(each, each) for each in value or ()])


class NamedTooFilter(SlugsFilter):
    field_class = NamedToo


class DeviceFilter(FacetedFilter):
    device_model = NamedTooFilter(queryset=DeviceModel.objects.all())
    driver = ChoicesFilter(choices=Device.Driver.choices)
    location = SeveralFilter()
    owner = SeveralFilter(field_name="owner__username")
    retired = TruthsFilter()
    search = WordsFilter(fields=("name", "device_model__name", "location", "notes"))

    class Meta:
        model = Device
        fields: list[str] = []


class WorkloadFilter(FacetedFilter):
    kind = ChoicesFilter(choices=Workload.Kind.choices)
    network = SeveralFilter()
    dataset = SeveralFilter()
    minibatch = NumbersFilter()
    owner = SeveralFilter(field_name="owner__username")
    search = WordsFilter(fields=("name", "network", "dataset", "notes"))

    class Meta:
        model = Workload
        fields = {
            "network": ["icontains"],
            "dataset": ["icontains"],
            "name": ["icontains"],
            "minibatch": ["gte", "lte"],
        }


class DatasetFilter(FacetedFilter):
    licence = SeveralFilter()
    owner = SeveralFilter(field_name="owner__username")
    search = WordsFilter(fields=("name", "description", "citation"))

    class Meta:
        model = Dataset
        fields: list[str] = []


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
