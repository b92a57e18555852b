from typing import Any

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.fields import Field
from rest_framework.relations import SlugRelatedField
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.api_sweeps import person
from profiling.filters import DatasetFilter
from profiling.models import Dataset, DatasetVersion
from profiling.renderers import CsvRenderer
from profiling.run_filters import ADD, REMOVE
from profiling.selectors.datasets import dataset_list, version_list
from profiling.services.datasets import MOST_STEPS, dataset_create, dataset_freeze, dataset_update
from profiling.strict import Strict

LONGEST_VALUE, MOST_VALUES = 200, 100
VALUE = {"type": "string", "maxLength": LONGEST_VALUE}
NUMBER = OpenApiParameter("number", int, OpenApiParameter.PATH)
CSV = "text/csv; charset=utf-8"


@extend_schema_field({"oneOf": [VALUE, {"type": "array", "items": VALUE, "maxItems": MOST_VALUES}]})
class FilterField(serializers.Field):
    """A value, or several of which a run needs one."""

    one = serializers.CharField(max_length=LONGEST_VALUE, allow_blank=True)
    several = serializers.ListField(child=one, max_length=MOST_VALUES)

    def to_internal_value(self, data: Any) -> Any:
        return (self.several if isinstance(data, list) else self.one).run_validation(data)

    def to_representation(self, value: Any) -> Any:
        return value


class StepSerializer(Strict):
    take = serializers.ChoiceField(choices=[ADD, REMOVE])
    filters = serializers.DictField(child=FilterField(), allow_empty=False)


class DatasetSerializer(Strict, serializers.ModelSerializer):
    owner: Field = SlugRelatedField(slug_field="username", read_only=True, allow_null=True)
    version_count = serializers.IntegerField(read_only=True, default=0)
    latest = serializers.IntegerField(read_only=True, default=None, allow_null=True)
    filters = serializers.DictField(
        child=FilterField(),
        required=False,
        help_text="as in the address of the run list",
    )

    steps = serializers.ListField(
        child=StepSerializer(),
        required=False,
        max_length=MOST_STEPS,
        help_text="runs to add or remove, in turn",
    )

    class Meta:
        model = Dataset
        fields = [
            "slug",
            "name",
            "description",
            "licence",
            "citation",
            "filters",
            "steps",
            "owner",
            "created",
        ]
        fields += ["version_count", "latest"]
        read_only_fields = ["slug", "created"]


class VersionSerializer(Strict, serializers.ModelSerializer):
    dataset: Field = SlugRelatedField(slug_field="slug", read_only=True)
    author: Field = SlugRelatedField(slug_field="username", read_only=True, allow_null=True)
    card = serializers.DictField(read_only=True)

    class Meta:
        model = DatasetVersion
        fields = ["dataset", "number", "sha256", "size", "run_count", "notes", "author", "created", "card"]
        read_only_fields = [name for name in fields if name != "notes"]


class DatasetViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    queryset = Dataset.objects.none()
    serializer_class = DatasetSerializer
    filterset_class = DatasetFilter
    lookup_field = "slug"
    write_scope = "upload"

    def get_queryset(self) -> Any:
        return dataset_list()

    def create(self, request: Request) -> Response:
        asked = DatasetSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        dataset = dataset_create(user=person(request), **{"filters": {}, **asked.validated_data})
        return Response(DatasetSerializer(dataset).data, status=201)

    @extend_schema(request=DatasetSerializer(partial=True), responses=DatasetSerializer)
    def partial_update(self, request: Request, slug: str) -> Response:
        dataset = self.get_object()
        asked = DatasetSerializer(dataset, data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        dataset_update(dataset=dataset, user=person(request), **asked.validated_data)
        return Response(DatasetSerializer(dataset).data)

    @extend_schema(methods=["get"], responses=VersionSerializer(many=True))
    @extend_schema(methods=["post"], request=VersionSerializer, responses={201: VersionSerializer})
    @action(detail=True, methods=["get", "post"])
    def versions(self, request: Request, slug: str) -> Response:
        """The frozen versions, newest first; POST freezes the runs the filters leave now."""
        dataset = self.get_object()
        if request.method == "POST":
            asked = VersionSerializer(data=request.data)
            asked.is_valid(raise_exception=True)
            version = dataset_freeze(dataset=dataset, user=person(request), **asked.validated_data)
            return Response(VersionSerializer(version).data, status=201)
        page = self.paginate_queryset(version_list(dataset))
        return self.get_paginated_response(VersionSerializer(page, many=True).data)

    @extend_schema(parameters=[NUMBER], responses=VersionSerializer)
    @action(detail=True, url_path=r"versions/(?P<number>\d{1,9})")
    def version(self, request: Request, slug: str, number: str) -> Response:
        return Response(VersionSerializer(self.version_or_404(number)).data)

    @extend_schema(parameters=[NUMBER], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    @action(
        detail=True,
        url_path=r"versions/(?P<number>\d{1,9})/file",
        renderer_classes=[JSONRenderer, CsvRenderer],
    )
    def version_file(self, request: Request, slug: str, number: str) -> FileResponse:
        """The very bytes that were frozen; their SHA-256 is the version's."""
        version = self.version_or_404(number)
        name = f"{slug}-v{version.number}.csv"
        headers = {"ETag": f'"{version.sha256}"'}
        return FileResponse(
            version.file.open(), as_attachment=True, filename=name, content_type=CSV, headers=headers
        )

    def version_or_404(self, number: str) -> DatasetVersion:
        return get_object_or_404(version_list(self.get_object()), number=int(number))
