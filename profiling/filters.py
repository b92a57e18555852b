"""Which runs: the same filters in the page's address and in the API's."""

import django_filters as filters
from django.db.models import QuerySet

from profiling.models import Device, DeviceModel, Run, Workload

SHOWN_STATES = [(state.value, state.label) for state in Run.State if state != Run.State.STAGED]


class RunFilter(filters.FilterSet):
    workload = filters.ModelChoiceFilter(
        queryset=Workload.objects.all(), to_field_name="slug", empty_label="any"
    )
    device_model = filters.ModelChoiceFilter(
        queryset=DeviceModel.objects.all(), to_field_name="slug", label="Device model", empty_label="any"
    )
    device = filters.ModelChoiceFilter(queryset=Device.objects.all(), to_field_name="slug", empty_label="any")
    state = filters.ChoiceFilter(choices=SHOWN_STATES, empty_label="any")
    emulated = filters.ChoiceFilter(
        choices=[("true", "emulated"), ("false", "real")],
        label="Source",
        empty_label="any",
        method="filter_emulated",
    )
    sweep = filters.NumberFilter()
    upload = filters.NumberFilter()
    cores = filters.NumberFilter()
    minibatch = filters.NumberFilter()

    class Meta:
        model = Run
        fields: list[str] = []

    def filter_emulated(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs.filter(emulated=value == "true")
