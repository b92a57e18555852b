from rest_framework import serializers

from profiling.models import WorkloadPackage
from profiling.strict import Strict


class WorkloadPackageSerializer(serializers.ModelSerializer):
    uploader: serializers.Field = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = WorkloadPackage
        fields = ["filename", "kind", "sha256", "size", "files", "unpacked_bytes", "uploader", "created"]


class PackageRequestSerializer(Strict):
    file = serializers.FileField(allow_empty_file=True, help_text="a zip with workload.py, a .pt2 or .onnx")
