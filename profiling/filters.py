"""Which boards, workloads, datasets and uploads: the same filters in the page's address and in the API's."""

from typing import Any

import django_filters as filters

from profiling.filter_fields import (
    BooleanFilter,
    ChoicesFilter,
    FacetedFilter,
    FromFilter,
    NumbersFilter,
    SeveralFilter,
    SlugsField,
    SlugsFilter,
    TruthsFilter,
    UntilFilter,
    WordsFilter,
)
from profiling.models import Dataset, Device, DeviceModel, Upload, Workload


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
