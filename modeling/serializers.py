"""The shapes of /api/v1/predictors/ and /api/v1/plans/; services do the work."""

from dataclasses import replace
from typing import Any

from rest_framework import serializers
from rest_framework.fields import Field

from modeling.answers import ANY_MINIBATCH, PlanQuestion
from modeling.core.objectives import OBJECTIVES
from modeling.core.predictors import METHODS
from modeling.models import Plan, Predictor
from profiling.models import Device, DeviceModel, Workload
from profiling.strict import Strict

MOST_BUDGETS = 100
METHOD_NAMES = sorted(METHODS)
CEILINGS = ("power_mw", "time_ms", "energy_mj", "epoch_s", "epoch_energy_j")
NEWEST = "left out: the newest that fits the data, baselines last"
ASKED_ALIKE = (*CEILINGS, "risk", "objective", "energy_weight")


def slug(**options: Any) -> Field:
    return serializers.SlugRelatedField(slug_field="slug", **options)


class PredictorSerializer(serializers.ModelSerializer):
    workload: Field = slug(read_only=True)
    device_model: Field = slug(read_only=True)
    references: Field = slug(read_only=True, many=True)
    requested_by: Field = serializers.SlugRelatedField(slug_field="username", read_only=True)
    stale = serializers.BooleanField(
        source="prediction_set.stale", read_only=True, default=None, allow_null=True
    )
    stale_reason = serializers.CharField(source="prediction_set.stale_reason", read_only=True, default="")

    class Meta:
        model = Predictor
        fields = ["id", "workload", "device_model", "method", "seed", "references", "state", "step"]
        fields += ["steps_done", "steps_total", "failure", "emulated", "stale", "stale_reason", "card"]
        fields += ["data_digest", "requested_by", "created", "fitted"]


class PredictorRequestSerializer(Strict):
    workload = slug(queryset=Workload.objects.all())
    device_model = slug(queryset=DeviceModel.objects.all())
    method = serializers.ChoiceField(
        choices=METHOD_NAMES, required=False, help_text="left out: the best there is"
    )
    references = slug(
        queryset=Workload.objects.all(),
        many=True,
        required=False,
        allow_null=True,
        help_text="workloads to learn from; left out: every well-measured one of the same kind",
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class DeviceNamedSerializer(Strict):
    device = slug(queryset=Device.objects.select_related("device_model"))


class PredictionColumnsSerializer(serializers.Serializer):
    """Every mode, in columns. A missing standard deviation is null: the method knows none. Times are null
    while no mode is measured: only their ratios would be known."""

    cores = serializers.ListField(child=serializers.IntegerField())
    cpu_khz = serializers.ListField(child=serializers.IntegerField())
    gpu_khz = serializers.ListField(child=serializers.IntegerField())
    mem_khz = serializers.ListField(child=serializers.IntegerField())
    minibatch = serializers.ListField(child=serializers.IntegerField())
    time_ms = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    power_mw = serializers.ListField(child=serializers.FloatField())
    time_log_sd = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    power_log_sd = serializers.ListField(child=serializers.FloatField(), allow_null=True)


class KnobLimitSerializer(Strict):
    low = serializers.FloatField(required=False, allow_null=True, default=None)
    high = serializers.FloatField(required=False, allow_null=True, default=None)


class AllowedSerializer(Strict):
    """Lowest and highest value allowed of a knob; clocks in kHz."""

    cores = KnobLimitSerializer(required=False)
    cpu_khz = KnobLimitSerializer(required=False)
    gpu_khz = KnobLimitSerializer(required=False)
    mem_khz = KnobLimitSerializer(required=False)


def ceiling(help_text: str) -> Field:
    return serializers.FloatField(required=False, allow_null=True, default=None, help_text=help_text)


class PlanRequestSerializer(Strict):
    workload = slug(queryset=Workload.objects.all())
    device_model = slug(queryset=DeviceModel.objects.all())
    power_mw = ceiling("highest mean power in mW")
    time_ms = ceiling("highest time of a minibatch in ms")
    energy_mj = ceiling("highest energy of a minibatch in mJ")
    epoch_s = ceiling("highest time of an epoch in s")
    epoch_energy_j = ceiling("highest energy of an epoch in J")
    risk = serializers.FloatField(default=0.05, help_text="accepted chance of breaking a ceiling, 0 to 1")
    objective = serializers.ChoiceField(choices=OBJECTIVES, default=OBJECTIVES[0])
    energy_weight = serializers.FloatField(
        default=0.5, min_value=0, max_value=1, help_text="of energy against time, for objective `weighted`"
    )
    allowed = AllowedSerializer(required=False, default=dict)
    minibatch = serializers.RegexField(
        rf"^([1-9]\d*|{ANY_MINIBATCH})$",
        required=False,
        allow_null=True,
        default=None,
        help_text=f"a size, or `{ANY_MINIBATCH}` to let all predicted sizes compete; else the workload's",
    )
    predictor = serializers.IntegerField(
        min_value=1, max_value=2**63 - 1, required=False, allow_null=True, default=None, help_text=NEWEST
    )
    save = serializers.BooleanField(  # type: ignore[assignment]
        default=False, help_text="keep the plan; takes an engineer"
    )

    def question(self) -> PlanQuestion:
        asked = dict(self.validated_data)
        limits = {name: (limit["low"], limit["high"]) for name, limit in asked["allowed"].items()}
        size = asked["minibatch"]
        minibatch = size if size in (None, ANY_MINIBATCH) else int(size)
        return PlanQuestion(
            **{name: asked[name] for name in ASKED_ALIKE},
            allowed=limits,
            minibatch=minibatch,
            predictor_id=asked["predictor"],
        )


class PlanSweepRequestSerializer(PlanRequestSerializer):
    power_mw = serializers.ListField(
        child=serializers.FloatField(min_value=1),
        min_length=1,
        max_length=MOST_BUDGETS,
        help_text="highest mean powers in mW, an answer for each",
    )
    save = None  # type: ignore[assignment]

    def question(self) -> PlanQuestion:
        return replace(super().question(), power_mw=None)


class KnobsSerializer(serializers.Serializer):
    cores = serializers.IntegerField()
    cpu_khz = serializers.IntegerField()
    gpu_khz = serializers.IntegerField()
    mem_khz = serializers.IntegerField()


class QuantitySerializer(serializers.Serializer):
    """A value and its 90 % interval; null where the method knows no uncertainty."""

    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class PlannedModeSerializer(serializers.Serializer):
    rank = serializers.IntegerField()
    knobs = KnobsSerializer()
    minibatch = serializers.IntegerField()
    measured = serializers.BooleanField()
    chance = serializers.FloatField(allow_null=True)
    time_ms = QuantitySerializer(allow_null=True)
    power_mw = QuantitySerializer()
    energy_mj = QuantitySerializer(allow_null=True)
    epoch_s = QuantitySerializer(allow_null=True)
    epoch_energy_j = QuantitySerializer(allow_null=True)


class ComparisonSerializer(serializers.Serializer):
    """The chosen mode against another; changes in % of the other's, negative is less."""

    name = serializers.CharField()
    mode = PlannedModeSerializer()
    fits = serializers.BooleanField()
    time_change_pct = serializers.FloatField()
    power_change_pct = serializers.FloatField()
    energy_change_pct = serializers.FloatField()
    note = serializers.CharField()


class BudgetAnswerSerializer(serializers.Serializer):
    """Where not feasible, `mode` is the one that comes closest."""

    power_mw = serializers.FloatField()
    feasible = serializers.BooleanField()
    mode = PlannedModeSerializer()


class ShortfallSerializer(serializers.Serializer):
    ceiling = serializers.CharField()
    limit = serializers.FloatField()
    needed = serializers.FloatField()


class ProvenanceSerializer(serializers.Serializer):
    predictor = serializers.IntegerField()
    prediction_set = serializers.IntegerField()
    method = serializers.CharField()
    fitted = serializers.CharField()
    modes_measured = serializers.IntegerField()
    own_error = serializers.DictField(allow_null=True)
    stale = serializers.BooleanField()
    stale_reason = serializers.CharField()
    emulated = serializers.BooleanField()
    outlook = serializers.DictField(
        allow_null=True, help_text="what ten more modes would cost, and how errors would fall"
    )


class PlanQuestionSerializer(serializers.Serializer):
    power_mw = serializers.FloatField(allow_null=True)
    time_ms = serializers.FloatField(allow_null=True)
    energy_mj = serializers.FloatField(allow_null=True)
    epoch_s = serializers.FloatField(allow_null=True)
    epoch_energy_j = serializers.FloatField(allow_null=True)
    risk = serializers.FloatField()
    objective = serializers.CharField()
    energy_weight = serializers.FloatField()
    allowed = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True))
    )
    minibatch = serializers.JSONField(allow_null=True)
    predictor_id = serializers.IntegerField(allow_null=True)


class PlanAnswerSerializer(serializers.Serializer):
    """`mode` is the choice, or where not feasible the one that comes closest."""

    workload = serializers.CharField()
    device_model = serializers.CharField()
    question = PlanQuestionSerializer()
    feasible = serializers.BooleanField()
    mode = PlannedModeSerializer()
    reason = serializers.CharField()
    time_reason = serializers.CharField(required=False, help_text="why no time is known")
    epoch_reason = serializers.CharField()
    shortfalls = ShortfallSerializer(many=True)
    nearest_beyond = PlannedModeSerializer(allow_null=True)
    maxn = ComparisonSerializer()
    best_stock = ComparisonSerializer(allow_null=True)
    stock_reason = serializers.CharField()
    notes = serializers.ListField(child=serializers.CharField())
    provenance = ProvenanceSerializer()
    nvpmodel = serializers.CharField()
    explanation = serializers.ListField(child=serializers.CharField(), required=False)


class VerdictSerializer(serializers.Serializer):
    """How the planned mode did when a board measured it."""

    run = serializers.IntegerField()
    knobs = KnobsSerializer()
    time_ms = serializers.FloatField()
    power_mw = serializers.FloatField()
    predicted_time_ms = QuantitySerializer(allow_null=True, help_text="before it was measured")
    predicted_power_mw = QuantitySerializer(help_text="before it was measured")
    kept = serializers.BooleanField(help_text="whether the measured values keep the budget")


class OutcomeSerializer(serializers.Serializer):
    """The best measured mode within the budget, or where kept is false the closest."""

    kept = serializers.BooleanField()
    run = serializers.IntegerField(allow_null=True)
    knobs = KnobsSerializer()
    said = serializers.CharField()


class KeptAnswerSerializer(PlanAnswerSerializer):
    verified = VerdictSerializer(many=True, required=False)
    outcome = OutcomeSerializer(required=False)


class PlanSerializer(serializers.ModelSerializer):
    workload: Field = slug(read_only=True)
    device_model: Field = slug(read_only=True)
    requested_by: Field = serializers.SlugRelatedField(slug_field="username", read_only=True)
    answer = KeptAnswerSerializer(read_only=True)

    class Meta:
        model = Plan
        fields = ["id", "workload", "device_model", "question", "answer", "verification"]
        fields += ["requested_by", "created"]
        read_only_fields = fields


class PlanReplySerializer(PlanAnswerSerializer):
    id = serializers.IntegerField(allow_null=True, help_text="of the saved plan")
