from typing import Any

from rest_framework import serializers
from rest_framework.fields import Field

from modeling.core.evaluation import CALIBRATION, FIGURES
from modeling.core.sampling import STRATEGIES
from modeling.models import Evaluation
from modeling.serializers import METHOD_NAMES, slug
from profiling.models import DeviceModel, Workload
from profiling.strict import Strict

SPREAD = ("", "_q1", "_q3", "_min", "_max")
BUDGET = ("time_penalty", "excess_w", "over_pct", "over_1w_pct")


def spread_fields(names: tuple[str, ...], **options: Any) -> dict[str, Field]:
    """Median, quartiles, least and largest of each figure; null where the method states none."""
    return {
        f"{name}{suffix}": serializers.FloatField(allow_null=True, required=suffix == "", **options)
        for name in names
        for suffix in SPREAD
    }


class BudgetScoresSerializer(serializers.Serializer):
    """PowerTrain's scores of the picks for 17 to 50 W."""

    budgets = serializers.IntegerField(min_value=0)
    extra_modes = serializers.FloatField(required=False, min_value=0)

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), **spread_fields(BUDGET)}


class EvaluationResultSerializer(serializers.Serializer):
    """One method at one number of profiled modes, as `evaluate --json` prints it."""

    target = serializers.CharField(max_length=200)
    method = serializers.CharField(max_length=40)
    sampling = serializers.CharField(max_length=40)
    profiled = serializers.IntegerField(min_value=1)
    budget = BudgetScoresSerializer(allow_null=True)
    budget_unverified = BudgetScoresSerializer(required=False, allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        figures = spread_fields(FIGURES, min_value=0)
        for name in ("time_mape", "power_mape"):
            figures[name] = serializers.FloatField(min_value=0)
        for name in CALIBRATION:  # older results do not state them
            figures[name] = serializers.FloatField(
                allow_null=True, required=False, min_value=0, max_value=100
            )
        return {**super().get_fields(), **figures}


class LeaderboardRowSerializer(EvaluationResultSerializer):
    evaluation = serializers.IntegerField()
    title = serializers.CharField()
    emulated = serializers.BooleanField()


class EvaluationSerializer(serializers.ModelSerializer):
    workload: Field = slug(read_only=True, allow_null=True)
    device_model: Field = slug(read_only=True, allow_null=True)
    requested_by: Field = serializers.SlugRelatedField(slug_field="username", read_only=True, allow_null=True)
    results = EvaluationResultSerializer(many=True, read_only=True)

    class Meta:
        model = Evaluation
        fields = ["id", "title", "workload", "device_model", "options", "state", "step"]
        fields += ["steps_done", "steps_total", "failure"]
        fields += ["emulated", "results", "requested_by", "created"]


class EvaluationImportSerializer(serializers.Serializer):
    title = serializers.CharField(max_length=200)
    emulated = serializers.BooleanField(default=False, help_text="the target was an emulated board")
    results = EvaluationResultSerializer(many=True, allow_empty=False)


class EvaluationRequestSerializer(Strict):
    workload = slug(queryset=Workload.objects.all())
    device_model = slug(queryset=DeviceModel.objects.all())
    methods = serializers.ListField(
        child=serializers.ChoiceField(choices=METHOD_NAMES), min_length=1, max_length=len(METHOD_NAMES)
    )
    counts = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=200),
        min_length=1,
        max_length=8,
        default=[10, 50],
    )
    repeats = serializers.IntegerField(default=10, min_value=1, max_value=20)
    sampling = serializers.ChoiceField(choices=sorted(STRATEGIES), default="random")
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)
    verify = serializers.BooleanField(default=False)
