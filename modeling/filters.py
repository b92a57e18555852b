from django_filters import rest_framework as filters

from modeling.models import Plan, Predictor
from profiling.filter_fields import BooleanFilter


class PredictorFilter(filters.FilterSet):
    workload = filters.CharFilter(field_name="workload__slug")
    device_model = filters.CharFilter(field_name="device_model__slug")
    emulated = BooleanFilter()

    class Meta:
        model = Predictor
        fields = ["workload", "device_model", "method", "state", "emulated"]


class PlanFilter(filters.FilterSet):
    workload = filters.CharFilter(field_name="workload__slug")
    device_model = filters.CharFilter(field_name="device_model__slug")

    class Meta:
        model = Plan
        fields = ["workload", "device_model"]
