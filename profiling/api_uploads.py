from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.http import FileResponse, UnreadablePostError
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.parsers import FileUploadParser, MultiPartParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from profiling.api_sweeps import person
from profiling.errors import LengthRequired, NotFound, TooLarge
from profiling.filters import UploadFilter
from profiling.idempotency import idempotency_key, key_parameter
from profiling.models import Upload
from profiling.renderers import CsvRenderer
from profiling.selectors.uploads import upload_list
from profiling.serializers import (
    ChoiceSerializer,
    MappingSerializer,
    UploadDetailSerializer,
    UploadRequestSerializer,
    UploadSerializer,
)
from profiling.services.uploads import (
    ON_BAD_LINES,
    REPEATS,
    upload_choose,
    upload_map,
    upload_receive,
    upload_undo,
)

FORM_BYTES = 1 << 20  # beside the file, in a form
BESIDE = ("filename", "format")  # said in the query, and of no field
JSON_PARSERS = api_settings.DEFAULT_PARSER_CLASSES
RAW_PARAMETERS = [
    OpenApiParameter("filename", str, description="for a raw body"),
    OpenApiParameter("workload", str, description="its slug, for a raw body"),
    OpenApiParameter("device_model", str, description="its slug, for a raw body"),
    OpenApiParameter("device", str, description="its slug, for a raw body"),
    OpenApiParameter("on_bad_lines", str, enum=ON_BAD_LINES, description="for a raw body"),
    OpenApiParameter("repeats", str, enum=REPEATS, description="for a raw body"),
    OpenApiParameter("emulated", bool, description="for a raw body"),
    OpenApiParameter("run", int, description="of a log: the run it belongs to, for a raw body"),
    OpenApiParameter("interval_s", float, description="of a log without times, for a raw body"),
    key_parameter("sent again, answers with the first upload"),
]


class RawBodyParser(FileUploadParser):
    """Any body as one file, whatever its content type says."""

    def get_filename(self, stream: IO[Any], media_type: str | None, parser_context: Mapping[str, Any]) -> str:
        named = parser_context["request"].query_params.get("filename")
        return named or super().get_filename(stream, media_type, parser_context) or "measurements"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except UnreadablePostError:  # the connection died, and what came of it is not waited for
            for handler in (parser_context or {})["request"].upload_handlers:
                handler.upload_interrupted()
            raise


class UploadViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Upload.objects.none()
    serializer_class = UploadSerializer
    filterset_class = UploadFilter
    write_scope = "upload"
    parser_classes = [MultiPartParser, RawBodyParser]

    def get_queryset(self) -> Any:
        return upload_list() if self.action == "list" else upload_list().defer(None)

    def get_serializer_class(self) -> Any:
        return UploadSerializer if self.action == "list" else UploadDetailSerializer

    @extend_schema(
        parameters=RAW_PARAMETERS,
        request={
            "multipart/form-data": UploadRequestSerializer,
            "application/octet-stream": OpenApiTypes.BINARY,
        },
        responses={201: UploadDetailSerializer, 200: UploadDetailSerializer},
    )
    def create(self, request: Request) -> Response:
        """Send a file of measurements: as a form, or as the body itself with the rest in the query."""
        key = idempotency_key(request)
        asked = UploadRequestSerializer(data=_asked(request))
        asked.is_valid(raise_exception=True)
        upload, new = upload_receive(user=person(request), idempotency_key=key, **asked.validated_data)
        headers = {"Location": reverse("api:upload-detail", args=[upload.pk])}
        return Response(UploadDetailSerializer(upload).data, status=201 if new else 200, headers=headers)

    @extend_schema(request=MappingSerializer, responses=UploadDetailSerializer)
    @action(detail=True, methods=["post"], parser_classes=JSON_PARSERS)
    def mapping(self, request: Request, pk: str) -> Response:
        """Say which column is what; the upload's `proposal` has what they seem to be, and what is unclear."""
        asked = MappingSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        upload = upload_map(upload=self.get_object(), user=person(request), mapping=asked.validated_data)
        return Response(UploadDetailSerializer(upload).data)

    @extend_schema(request=ChoiceSerializer, responses=UploadDetailSerializer)
    @action(detail=True, methods=["post"], parser_classes=JSON_PARSERS)
    def choice(self, request: Request, pk: str) -> Response:
        """Some lines are bad: import the good ones, or nothing."""
        asked = ChoiceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        upload = upload_choose(upload=self.get_object(), user=person(request), **asked.validated_data)
        return Response(UploadDetailSerializer(upload).data)

    @extend_schema(request=None, responses=UploadDetailSerializer)
    @action(detail=True, methods=["post"], parser_classes=JSON_PARSERS)
    def undo(self, request: Request, pk: str) -> Response:
        """Take every run of this file away again."""
        upload = upload_undo(upload=self.get_object(), user=person(request))
        return Response(UploadDetailSerializer(upload).data)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR})
    @action(detail=True, renderer_classes=[JSONRenderer, CsvRenderer])
    def report(self, request: Request, pk: str) -> FileResponse:
        """Every bad line: its number, column, value and reason."""
        upload = self.get_object()
        if not upload.report:
            raise NotFound(f"{upload.filename} has no report: no bad line was found so far.")
        name = f"{upload.filename}.problems.csv"
        return FileResponse(
            upload.report.open(), as_attachment=True, filename=name, content_type="text/csv; charset=utf-8"
        )


def _asked(request: Request) -> dict[str, Any]:
    if "CONTENT_LENGTH" not in request.META and "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthRequired("Say how long the file is (Content-Length); curl does with --data-binary @FILE.")
    check_length(request)
    query = {name: value for name, value in request.query_params.items() if name not in BESIDE}
    return {**query, **_fields(request)}


def check_length(request: Request) -> None:
    """By its head, before any of the body is read. What is only a little too long is counted as it comes."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdecimal() and int(length) > settings.UPLOAD_MAX_BYTES + FORM_BYTES:
        size, most = int(length) >> 20, settings.UPLOAD_MAX_BYTES >> 20
        raise TooLarge(
            f"{size:,} MiB are more than the {most:,} MiB taken. Split it, or raise UPLOAD_MAX_MB."
        )


def _fields(request: Request) -> dict[str, Any]:
    assert isinstance(request.data, dict)  # both parsers give a QueryDict
    return dict(request.data.items())
