from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.fields import Field
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.asking import SweepQuestion
from profiling.knobs import Knobs
from profiling.models import Device, Sweep, Workload
from profiling.modes import STRATEGIES
from profiling.selectors.sweeps import sweep_list
from profiling.services.sweeps import sweep_ask, sweep_cancel, sweep_resume
from profiling.strict import Strict


class SweepSerializer(serializers.ModelSerializer):
    device: Field = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    workload: Field = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    runs_total = serializers.IntegerField(read_only=True)
    runs_complete = serializers.IntegerField(read_only=True)
    runs_failed = serializers.IntegerField(read_only=True)

    class Meta:
        model = Sweep
        fields = ["id", "device", "workload", "strategy", "options", "state", "message", "created", "started"]
        fields += ["finished", "runs_total", "runs_complete", "runs_failed"]


class KnobsSerializer(Strict):
    cores = serializers.IntegerField()
    cpu_khz = serializers.IntegerField()
    gpu_khz = serializers.IntegerField()
    mem_khz = serializers.IntegerField()


class SweepRequestSerializer(Strict):
    device = serializers.SlugRelatedField(
        slug_field="slug", queryset=Device.objects.select_related("device_model")
    )
    workload = serializers.SlugRelatedField(slug_field="slug", queryset=Workload.objects.all())
    strategy = serializers.ChoiceField(choices=sorted(STRATEGIES))
    modes = KnobsSerializer(many=True, required=False, help_text="for strategy `list`")
    count = serializers.IntegerField(
        default=20, min_value=1, max_value=5000, help_text="for `random`, and at most for `active`"
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)
    dvfs = serializers.BooleanField(default=False, help_text="the board's governor sets the clocks: one run")
    baseload = serializers.BooleanField(default=False, help_text="the board's own power, nothing running")
    rules = serializers.DictField(
        default=dict, help_text="of the measuring protocol: minibatches, settle_s …"
    )
    aim = serializers.ChoiceField(
        choices=["all", "front", "power"], default="all", help_text="of `active`: what it shall learn best"
    )
    aim_power_mw = serializers.FloatField(
        required=False, min_value=1, help_text="the power budget of aim `power`"
    )

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        watts = asked.pop("aim_power_mw", None)
        if (asked["aim"] == "power") != (watts is not None):
            raise serializers.ValidationError({"aim_power_mw": ["Goes with aim `power`, and only with it."]})
        return {**asked, "aim": watts or asked["aim"]}

    def question(self) -> SweepQuestion:
        modes = [Knobs(**mode) for mode in self.validated_data.get("modes", [])]
        return SweepQuestion(**{**self.validated_data, "modes": modes})


def person(request: Request) -> User:
    assert isinstance(request.user, User)  # ScopePermission let nobody else in
    return request.user


class SweepViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    queryset = Sweep.objects.none()
    serializer_class = SweepSerializer
    write_scope = "plan"
    filterset_fields = ["state", "strategy"]

    def get_queryset(self) -> Any:
        return sweep_list()

    def answer(self, sweep: Sweep, status: int = 200) -> Response:
        return Response(SweepSerializer(sweep_list().get(pk=sweep.pk)).data, status=status)

    @extend_schema(request=SweepRequestSerializer, responses={201: SweepSerializer})
    def create(self, request: Request) -> Response:
        asked = SweepRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return self.answer(sweep_ask(question=asked.question(), user=person(request)), 201)

    @extend_schema(request=None, responses=SweepSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        sweep = self.get_object()
        sweep_cancel(sweep=sweep)
        return self.answer(sweep)

    @extend_schema(request=None, responses=SweepSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        sweep = self.get_object()
        sweep_resume(sweep=sweep)
        return self.answer(sweep)
