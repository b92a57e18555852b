from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.api_sweeps import person
from profiling.filters import RunApiFilter, RunExportFilter
from profiling.models import Run
from profiling.renderers import CsvRenderer, ParquetRenderer
from profiling.selectors.exports import Export
from profiling.selectors.runs import run_history, run_list
from profiling.serializers import (
    CorrectionSerializer,
    RunSerializer,
    RunsReplySerializer,
    RunsRequestSerializer,
)
from profiling.services.runs import run_correct, runs_receive

MEDIA_TYPES = ("text/csv", "application/json", "application/vnd.apache.parquet", "application/zip")
KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="sent again, answers with the first runs"
)


class RunViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Run.objects.none()
    serializer_class = RunSerializer
    filterset_class = RunApiFilter
    write_scope = "upload"

    def get_queryset(self) -> QuerySet[Run]:
        return run_list() if self.action in ("list", "export") else run_history()

    @extend_schema(
        parameters=[KEY],
        request=RunsRequestSerializer,
        responses={201: RunsReplySerializer, 200: RunsReplySerializer},
    )
    def create(self, request: Request) -> Response:
        """Send runs your own harness measured: all rows come in, or every bad one is named."""
        asked = RunsRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        key = request.headers.get("Idempotency-Key", "")[:100]
        upload, new = runs_receive(user=person(request), idempotency_key=key, **asked.validated_data)
        ids = list(upload.runs.order_by("line").values_list("pk", flat=True))
        return Response({"upload": upload.pk, "runs": ids}, status=201 if new else 200)

    @extend_schema(request=CorrectionSerializer, responses={201: RunSerializer})
    @action(detail=True, methods=["post"])
    def corrections(self, request: Request, pk: str) -> Response:
        """Revise a complete run: the revision takes its place, and names you and the reason."""
        asked = CorrectionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        revision: Any = run_correct(run=self.get_object(), user=person(request), **asked.validated_data)
        return Response(RunSerializer(revision).data, status=201)

    @extend_schema(
        responses={(200, media_type): OpenApiTypes.BINARY for media_type in MEDIA_TYPES},
    )
    @action(
        detail=False,
        pagination_class=None,
        renderer_classes=[CsvRenderer, JSONRenderer, ParquetRenderer],
        filterset_class=RunExportFilter,
    )
    def export(self, request: Request) -> StreamingHttpResponse:
        """Every run the filters leave, streamed; units end the columns' names."""
        runs = self.filter_queryset(self.get_queryset())
        filters = {k: v for k, v in request.query_params.items() if k not in ("format", "package")}
        by, name = person(request).get_username(), str(request.accepted_renderer.format)
        export = Export(runs, name, filters, by)
        if request.query_params.get("package", "").lower() in ("true", "1"):
            return attachment(export.package(), "runs.zip", "application/zip")
        return attachment(export.pieces(), f"runs.{name}", export.content_type)


def attachment(pieces: Iterator[bytes], filename: str, content_type: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        pieces,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{filename}"'},
    )
