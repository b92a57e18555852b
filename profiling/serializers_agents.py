from rest_framework import serializers

from profiling.models import Run


class ClaimSerializer(serializers.Serializer):
    agent = serializers.CharField(max_length=64, help_text="a name for this agent process, made at its start")


class HeartbeatSerializer(ClaimSerializer):
    status = serializers.DictField(help_text="knobs, clocks, temperatures, power_mw, minibatch n of N")


class EnrolSerializer(ClaimSerializer):
    description = serializers.DictField(help_text="what `jetsonlab-agent enroll` read from the board")


class KnobsInForceSerializer(serializers.Serializer):
    cores = serializers.IntegerField(min_value=0)
    cpu_khz = serializers.IntegerField(min_value=0)
    gpu_khz = serializers.IntegerField(min_value=0)
    mem_khz = serializers.IntegerField(min_value=0)


class ModeSerializer(ClaimSerializer):
    knobs = KnobsInForceSerializer(allow_null=True, help_text="null: the board was put back as it was found")
    by = serializers.CharField(max_length=64, help_text="the user on the board who did it")


class GoOnSerializer(serializers.Serializer):
    go_on = serializers.BooleanField()


class FailureSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=4000)
    again = serializers.BooleanField(default=True, help_text="false when trying again cannot help")


COUNT = serializers.IntegerField(allow_null=True, required=False, min_value=0, max_value=2**31 - 1)


class MeasuredSerializer(serializers.Serializer):
    """The numbers of one run; null with its reason in `unknowns` for what could not be measured."""

    time_ms = serializers.FloatField(allow_null=True)
    time_sd_ms = serializers.FloatField(allow_null=True, required=False)
    fetch_ms = serializers.FloatField(allow_null=True, required=False)
    compute_ms = serializers.FloatField(allow_null=True, required=False)
    power_mw = serializers.FloatField(allow_null=True)
    energy_mj = serializers.FloatField(allow_null=True, required=False)
    minibatches = COUNT
    power_samples = COUNT
    measured_at = serializers.DateTimeField(required=False)
    flags = serializers.ListField(child=serializers.CharField(max_length=40), required=False)
    unknowns = serializers.DictField(child=serializers.CharField(max_length=400), required=False)
    extra = serializers.DictField(required=False)
    provenance = serializers.DictField(required=False)


class RunResultSerializer(serializers.Serializer):
    measured = MeasuredSerializer()
    telemetry = serializers.DictField(
        child=serializers.ListField(), required=False, help_text="columns of equal length, time_s among them"
    )


class ClaimedPackageSerializer(serializers.Serializer):
    """The board fetches it from agent/packages/<sha256>/, unless it has it."""

    filename = serializers.CharField()
    sha256 = serializers.CharField()
    size = serializers.IntegerField()


class ClaimedWorkloadSerializer(serializers.Serializer):
    slug = serializers.CharField()
    kind = serializers.CharField()
    network = serializers.CharField()
    dataset = serializers.CharField()
    loader_workers = serializers.IntegerField(allow_null=True)
    sequence_length = serializers.IntegerField(allow_null=True)
    precision = serializers.CharField()
    runner_options = serializers.DictField()
    package = ClaimedPackageSerializer(allow_null=True, help_text="the user's own code or network")


class ClaimedRunSerializer(serializers.ModelSerializer):
    workload = ClaimedWorkloadSerializer()
    options = serializers.DictField(source="sweep.options", default=dict)

    class Meta:
        model = Run
        fields = [
            "id",
            "cores",
            "cpu_khz",
            "gpu_khz",
            "mem_khz",
            "minibatch",
            "attempts",
            "workload",
            "options",
        ]
