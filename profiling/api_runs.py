from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.api_sweeps import person
from profiling.filter_fields import filters_in
from profiling.idempotency import idempotency_key, key_parameter
from profiling.models import Run
from profiling.pagination import rows_of
from profiling.renderers import CsvRenderer, ParquetRenderer
from profiling.run_filters import RunApiFilter, RunExportFilter, RunHeatFilter
from profiling.selectors.exports import Export
from profiling.selectors.facets import FACETS, run_facets
from profiling.selectors.heat import USUAL_HEAT, heat_map
from profiling.selectors.runs import run_history, run_list
from profiling.selectors.telemetry import telemetry_columns
from profiling.serializers import (
    CorrectionSerializer,
    FacetsSerializer,
    HeatMapSerializer,
    RunSerializer,
    RunsReplySerializer,
    RunsRequestSerializer,
    TelemetryRequestSerializer,
    TelemetrySerializer,
)
from profiling.services.runs import run_correct, runs_receive

MEDIA_TYPES = ("text/csv", "application/vnd.apache.parquet", "application/zip")
LISTS = ("list", "export", "facets", "heat")
KEY = key_parameter("sent again, answers with the first runs")


class RunViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Run.objects.none()
    serializer_class = RunSerializer
    filterset_class = RunApiFilter
    write_scope = "upload"
    filterset: RunApiFilter  # what is asked, once the rows are filtered by it

    def get_queryset(self) -> QuerySet[Run]:
        return run_list() if self.action in LISTS else run_history()

    def paginate_queryset(self, queryset: Any) -> Any:
        """First the keys of a page, which an index may answer, then these few rows whole."""
        page = super().paginate_queryset(queryset.select_related(None).defer(None).values("id"))
        return page and rows_of(run_history(), [row["id"] for row in page])

    @extend_schema(
        parameters=[KEY],
        request=RunsRequestSerializer,
        responses={201: RunsReplySerializer, 200: RunsReplySerializer},
    )
    def create(self, request: Request) -> Response:
        """Send runs your own harness measured: all rows come in, or every bad one is named."""
        key = idempotency_key(request)
        asked = RunsRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        upload, new = runs_receive(user=person(request), idempotency_key=key, **asked.validated_data)
        ids = list(upload.runs.order_by("line").values_list("pk", flat=True))
        return Response({"upload": upload.pk, "runs": ids}, status=201 if new else 200)

    @extend_schema(parameters=[TelemetryRequestSerializer], responses=TelemetrySerializer)
    @action(detail=True)
    def telemetry(self, request: Request, pk: str) -> Response:
        """What the sensors said during a run: channels, thinned without losing peaks."""
        asked = TelemetryRequestSerializer(data=query(request))
        asked.is_valid(raise_exception=True)
        run: Any = self.get_object()
        return Response({"run": run.pk, "channels": telemetry_columns(run=run, **asked.validated_data)})

    @extend_schema(request=CorrectionSerializer, responses={201: RunSerializer})
    @action(detail=True, methods=["post"])
    def corrections(self, request: Request, pk: str) -> Response:
        """Revise a complete run: the revision takes its place, and names you and the reason."""
        asked = CorrectionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        revision: Any = run_correct(run=self.get_object(), user=person(request), **asked.validated_data)
        return Response(RunSerializer(revision).data, status=201)

    @extend_schema(
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            **{(200, media_type): OpenApiTypes.BINARY for media_type in MEDIA_TYPES},
        },
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
        filters = filters_in(request.query_params, RunApiFilter.base_filters)
        by, name = request.user.get_username(), str(request.accepted_renderer.format)
        export = Export(runs, name, filters, by)
        if request.query_params.get("package", "").lower() in ("true", "1"):
            return attachment(export.package(), "runs.zip", "application/zip")
        return attachment(export.pieces(), f"runs.{name}", export.content_type)

    @extend_schema(responses=FacetsSerializer)
    @action(detail=False, pagination_class=None)
    def facets(self, request: Request) -> Response:
        """How many runs each choice of a filter would leave; the knobs' and dates' ranges."""
        self.filter_queryset(self.get_queryset())
        return Response(run_facets(self.filterset.apart_from(FACETS), self.filterset.chosen(FACETS)))

    @extend_schema(responses=HeatMapSerializer)
    @action(detail=False, pagination_class=None, filterset_class=RunHeatFilter)
    def heat(self, request: Request) -> Response:
        """Time, power or energy over two knobs; the others held by filters, or minimised."""
        runs = self.filter_queryset(self.get_queryset())
        asked = {name: request.query_params.get(name) or usual for name, usual in USUAL_HEAT.items()}
        return Response(heat_map(runs, **asked))


def query(request: Request) -> dict[str, Any]:
    return {name: value for name, value in request.query_params.items() if name != "format"}


def attachment(pieces: Iterator[bytes], filename: str, content_type: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        pieces,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{filename}"'},
    )
