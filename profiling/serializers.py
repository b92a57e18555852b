"""Shapes of the API: what goes out, and what is asked for. Writing is the services' work."""

from typing import Any

from rest_framework import serializers
from rest_framework.fields import Field
from rest_framework.relations import SlugRelatedField

from profiling.flags import FLAGS
from profiling.models import ApiToken, Device, DeviceModel, PowerMode, Run, Upload, Workload
from profiling.serializers_packages import WorkloadPackageSerializer
from profiling.services.runs import CORRECTABLE, MOST_ROWS
from profiling.services.tokens import DAYS, MAX_DAYS
from profiling.services.uploads import ON_BAD_LINES, REPEATS
from profiling.strict import Strict


def slug(**options: Any) -> Field:
    return SlugRelatedField(slug_field="slug", **(options or {"read_only": True}))


def username() -> Field:
    return SlugRelatedField(slug_field="username", read_only=True, allow_null=True)


class DeviceModelSerializer(serializers.ModelSerializer):
    mode_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = DeviceModel
        exclude = ["id"]


class PowerModeSerializer(serializers.ModelSerializer):
    class Meta:
        model = PowerMode
        fields = ["id", "rank", "cores", "cpu_khz", "gpu_khz", "mem_khz"]


class DeviceSerializer(serializers.ModelSerializer):
    device_model = slug()

    class Meta:
        model = Device
        fields = ["slug", "name", "device_model", "driver", "location", "notes", "software", "status"]
        fields += ["last_seen", "retired", "created"]


class NewDeviceSerializer(Strict, serializers.ModelSerializer):
    device_model = slug(
        queryset=DeviceModel.objects.all(),
        required=False,
        help_text="of a Jetson or an emulated board; a host gets its own when it enrols",
    )

    class Meta:
        model = Device
        fields = ["name", "device_model", "driver", "location", "notes"]


class EnrolCommandSerializer(serializers.Serializer):
    token = serializers.CharField(help_text="shown this once")
    command = serializers.CharField(help_text="what to type on the board, where jetsonlab is installed")


class WorkloadSerializer(Strict, serializers.ModelSerializer):
    owner = username()
    package = WorkloadPackageSerializer(read_only=True, allow_null=True)

    class Meta:
        model = Workload
        fields = ["slug", "name", "kind", "network", "dataset", "minibatch", "loader_workers"]
        fields += ["samples_per_epoch", "sequence_length", "precision", "runner_options", "notes"]
        fields += ["package", "owner", "created"]
        read_only_fields = ["slug", "created"]


class RunSerializer(serializers.ModelSerializer):
    workload = slug()
    device_model = slug()
    device = slug(read_only=True, allow_null=True)
    corrected_by: Field = SlugRelatedField(slug_field="username", read_only=True, allow_null=True)
    provenance = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = ["id", "workload", "device_model", "device", "state", "emulated", "power_mode"]
        fields += ["cores", "cpu_khz", "gpu_khz", "mem_khz", "minibatch", "time_ms", "time_sd_ms"]
        fields += ["fetch_ms", "compute_ms", "power_mw", "energy_mj", "minibatches", "power_samples"]
        fields += ["flags", "unknowns", "extra", "provenance", "sweep", "failure", "measured_at", "created"]
        fields += ["revises", "corrected_by", "correction"]

    def get_provenance(self, run: Run) -> dict[str, Any]:
        upload = run.upload
        if upload is None:
            return run.origin
        return {
            **run.origin,
            "upload": upload.pk,
            "file": upload.filename,
            "sha256": upload.sha256,
            "line": run.line,
            "uploader": upload.uploader.get_username() if upload.uploader else None,
            "uploaded": upload.created.isoformat(),
        }


# Of what the measurements are that come in. (No docstring: it would describe its children in the schema.)
class PairSerializer(Strict):
    workload = slug(queryset=Workload.objects.all())
    device_model = slug(queryset=DeviceModel.objects.all(), required=False)
    device = slug(
        queryset=Device.objects.select_related("device_model"),
        required=False,
        help_text="gives its device model",
    )
    emulated = serializers.BooleanField(default=False, help_text="the numbers come from an emulated board")

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if "device_model" not in asked and "device" not in asked:
            raise serializers.ValidationError({"device_model": ["Name the device model, or the device."]})
        return {"device_model": asked["device"].device_model if asked.get("device") else None, **asked}


class RunsRequestSerializer(PairSerializer):
    runs = serializers.ListField(
        child=serializers.DictField(),
        min_length=1,
        max_length=MOST_ROWS,
        help_text="each with cores, cpu_khz, gpu_khz, mem_khz, minibatch, time_ms, power_mw, energy_mj, "
        "time_sd_ms, fetch_ms, compute_ms, minibatches, power_samples, flags, measured_at, as far as known; "
        "anything else is kept in extra",
    )


class RunsReplySerializer(serializers.Serializer):
    upload = serializers.IntegerField(help_text="the rows as they came; undo it to take the runs away")
    runs = serializers.ListField(child=serializers.IntegerField(), help_text="their ids, in the given order")


class CorrectionSerializer(Strict):
    reason = serializers.CharField(max_length=2000)
    changes = serializers.DictField(help_text="field and new value; null for not known")

    def validate_changes(self, changes: dict[str, Any]) -> dict[str, Any]:
        """As the run's own fields read them, every fault at once."""
        asked = CorrectedSerializer(data=changes, partial=True)
        asked.is_valid(raise_exception=True)
        return asked.validated_data


class CorrectedSerializer(Strict, serializers.ModelSerializer):
    flags = serializers.ListField(child=serializers.ChoiceField(choices=FLAGS))

    class Meta:
        model = Run
        fields = CORRECTABLE


class FacetsSerializer(serializers.Serializer):
    count = serializers.IntegerField()
    facets = serializers.DictField(child=serializers.DictField(child=serializers.IntegerField()))
    ranges = serializers.DictField(child=serializers.DictField(help_text="min and max, null without runs"))


class TelemetryRequestSerializer(Strict):
    points = serializers.IntegerField(
        default=2000, min_value=2, max_value=1_000_000, help_text="of a channel at most; peaks are kept"
    )


class ChannelSerializer(serializers.Serializer):
    time_s = serializers.ListField(child=serializers.FloatField(), help_text="seconds since the run began")
    values = serializers.ListField(child=serializers.FloatField(allow_null=True))


class TelemetrySerializer(serializers.Serializer):
    run = serializers.IntegerField()
    channels = serializers.DictField(
        child=ChannelSerializer(), help_text="names, units last: power_vdd_in_mw, gpu_khz, temp_cpu_c"
    )


class HeatMapSerializer(serializers.Serializer):
    x = serializers.ListField(child=serializers.IntegerField())
    y = serializers.ListField(child=serializers.IntegerField())
    z = serializers.ListField(child=serializers.ListField(child=serializers.FloatField(allow_null=True)))
    runs = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))
    names = serializers.DictField(child=serializers.CharField())


class UploadSerializer(serializers.ModelSerializer):
    workload = slug(read_only=True, allow_null=True)
    device_model = slug(read_only=True, allow_null=True)
    device = slug(read_only=True, allow_null=True)
    uploader = username()

    class Meta:
        model = Upload
        fields = ["id", "filename", "size", "sha256", "uploader", "workload", "device_model", "device"]
        fields += ["emulated", "state", "format", "on_bad_lines", "rows_total", "rows_done", "rows_imported"]
        fields += ["problem_count", "failure", "run", "interval_s", "created", "finished"]


class UploadDetailSerializer(UploadSerializer):
    class Meta(UploadSerializer.Meta):
        fields = [*UploadSerializer.Meta.fields, "mapping", "proposal", "problems", "notes"]


class UploadRequestSerializer(PairSerializer):
    file = serializers.FileField(
        allow_empty_file=True,
        error_messages={
            "required": "No file came, or an empty one. Send it as the body, or as “file” of a form."
        },
    )
    run = serializers.PrimaryKeyRelatedField(
        queryset=Run.objects.select_related("workload", "device_model", "device"),
        required=False,
        pk_field=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        help_text="of a telemetry log: the run it belongs to, which gives workload and device model",
    )
    interval_s = serializers.FloatField(
        required=False, help_text="of a log without times: seconds between its lines"
    )
    on_bad_lines = serializers.ChoiceField(choices=ON_BAD_LINES, default="ask")
    repeats = serializers.ChoiceField(
        choices=REPEATS, default="refuse", help_text="a mode again with other values: a bad line, or a repeat"
    )

    def get_fields(self) -> dict[str, Field]:
        fields = super().get_fields()
        if "run" in getattr(self, "initial_data", ()):
            fields["workload"].required = False
        return fields

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if run := asked.get("run"):
            about = ("workload", "device_model", "device")
            asked = {**{name: getattr(run, name) for name in about}, **asked}
            asked["emulated"] |= run.emulated
        return super().validate(asked)


class ColumnSerializer(Strict):
    column = serializers.CharField(max_length=200)
    unit = serializers.CharField(max_length=20, default="", allow_blank=True)


class MappingSerializer(Strict):
    interval_s = serializers.FloatField(required=False, help_text="all that a log without times is asked for")
    constants = serializers.DictField(child=serializers.FloatField(), required=False)
    apart = serializers.ListField(child=serializers.CharField(max_length=200), required=False)
    only = serializers.DictField(child=serializers.CharField(max_length=200), required=False)
    decimal = serializers.ChoiceField(choices=[".", ","], default=".")

    def get_fields(self) -> dict[str, Field]:
        """`fields` is a word of serializers themselves, so it cannot be declared."""
        return {
            "fields": serializers.DictField(child=ColumnSerializer(), default=dict),
            **super().get_fields(),
        }


class ChoiceSerializer(Strict):
    choice = serializers.ChoiceField(choices=["good", "nothing"])


class TokenSerializer(serializers.ModelSerializer):
    device = slug(read_only=True, allow_null=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=ApiToken.Scope.choices))

    class Meta:
        model = ApiToken
        fields = ["id", "name", "prefix", "scopes", "device", "created", "expires", "last_used", "revoked"]


class NewTokenSerializer(TokenSerializer):
    text = serializers.CharField(help_text="the token itself, shown this once")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "text"]


class TokenRequestSerializer(Strict):
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=ApiToken.Scope.choices), min_length=1
    )
    days = serializers.IntegerField(min_value=1, max_value=MAX_DAYS, default=DAYS, allow_null=True)
    device = slug(queryset=Device.objects.filter(retired=False), required=False, allow_null=True)
