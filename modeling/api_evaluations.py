from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from modeling.api import person
from modeling.models import Evaluation
from modeling.selectors.evaluations import evaluation_list, leaderboard
from modeling.serializers_evaluations import (
    EvaluationImportSerializer,
    EvaluationRequestSerializer,
    EvaluationSerializer,
    LeaderboardRowSerializer,
)
from modeling.services.evaluations import evaluation_import, evaluation_request


class EvaluationViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    queryset = Evaluation.objects.none()
    serializer_class = EvaluationSerializer
    filterset_fields = ["state", "emulated"]
    write_scope = "plan"

    def get_queryset(self) -> Any:
        return evaluation_list()

    @extend_schema(request=EvaluationRequestSerializer, responses={202: EvaluationSerializer})
    def create(self, request: Request) -> Response:
        asked = EvaluationRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        evaluation = evaluation_request(**asked.validated_data, user=person(request))
        return Response(EvaluationSerializer(evaluation).data, status=202)

    @extend_schema(request=EvaluationImportSerializer, responses={201: EvaluationSerializer})
    @action(detail=False, methods=["post"], url_path="import")
    def bring_in(self, request: Request) -> Response:
        sent = EvaluationImportSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        evaluation = evaluation_import(**sent.validated_data, user=person(request))
        return Response(EvaluationSerializer(evaluation).data, status=201)

    @extend_schema(
        responses=LeaderboardRowSerializer(many=True),
        filters=False,
        parameters=[OpenApiParameter("target"), OpenApiParameter("sampling")],
    )
    @action(detail=False, pagination_class=None, filterset_fields=None)
    def leaderboard(self, request: Request) -> Response:
        wanted = {name: request.query_params.get(name, "") for name in ("target", "sampling")}
        return Response(leaderboard(**wanted))
