from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.api_sweeps import person
from profiling.filters import RunApiFilter
from profiling.models import Run
from profiling.selectors.runs import run_history, run_list
from profiling.serializers import (
    CorrectionSerializer,
    RunSerializer,
    RunsReplySerializer,
    RunsRequestSerializer,
)
from profiling.services.runs import run_correct, runs_receive

KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="sent again, answers with the first runs"
)


class RunViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Run.objects.none()
    serializer_class = RunSerializer
    filterset_class = RunApiFilter
    write_scope = "upload"

    def get_queryset(self) -> QuerySet[Run]:
        return run_list() if self.action == "list" else run_history()

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
