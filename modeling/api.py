from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from modeling.answers import as_json
from modeling.filters import PlanFilter, PredictorFilter
from modeling.models import Plan, Predictor
from modeling.renderers import ColumnsCSVRenderer
from modeling.selectors.landscape import prediction_columns
from modeling.selectors.plans import plan_list
from modeling.selectors.predictors import predictor_list
from modeling.serializers import (
    BudgetAnswerSerializer,
    DeviceNamedSerializer,
    PlanReplySerializer,
    PlanRequestSerializer,
    PlanSerializer,
    PlanSweepRequestSerializer,
    PredictionColumnsSerializer,
    PredictorRequestSerializer,
    PredictorSerializer,
)
from modeling.services.drift import drift_check
from modeling.services.plans import plan_make, plan_save, plan_sweep
from modeling.services.predictors import predictor_request, predictor_retry
from modeling.services.verification import plan_verify
from profiling.api_sweeps import SweepSerializer
from profiling.errors import Forbidden
from profiling.models import Device, Sweep
from profiling.permissions import has_role
from profiling.selectors.sweeps import sweep_list


def person(request: Request) -> User:
    assert isinstance(request.user, User)  # ScopePermission let nobody else in
    return request.user


def device_named(request: Request) -> Device:
    asked = DeviceNamedSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    return asked.validated_data["device"]


def sweep_answer(sweep: Sweep) -> Response:
    return Response(SweepSerializer(sweep_list().get(pk=sweep.pk)).data, status=202)


class PredictorViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    queryset = Predictor.objects.none()
    serializer_class = PredictorSerializer
    filterset_class = PredictorFilter
    write_scope = "plan"

    def get_queryset(self) -> Any:
        return predictor_list()

    def answer(self, predictor: Predictor, status: int) -> Response:
        return Response(PredictorSerializer(predictor_list().get(pk=predictor.pk)).data, status=status)

    @extend_schema(request=PredictorRequestSerializer, responses={202: PredictorSerializer})
    def create(self, request: Request) -> Response:
        asked = PredictorRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return self.answer(predictor_request(**asked.validated_data, user=person(request)), 202)

    @extend_schema(request=None, responses={202: PredictorSerializer})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        predictor = self.get_object()
        predictor_retry(predictor=predictor)
        return self.answer(predictor, 202)

    @extend_schema(request=DeviceNamedSerializer, responses={202: SweepSerializer})
    @action(detail=True, methods=["post"], url_path="check-drift")
    def check_drift(self, request: Request, pk: str) -> Response:
        predictor, device = self.get_object(), device_named(request)
        return sweep_answer(drift_check(predictor=predictor, device=device, user=person(request)))

    @extend_schema(responses=PredictionColumnsSerializer, filters=False)
    @action(
        detail=True,
        renderer_classes=[JSONRenderer, ColumnsCSVRenderer],
        pagination_class=None,
        filterset_class=None,
    )
    def predictions(self, request: Request, pk: str) -> Response:
        return Response(prediction_columns(predictor=self.get_object()))


class PlanViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    queryset = Plan.objects.none()
    serializer_class = PlanSerializer
    filterset_class = PlanFilter
    write_scope = "plan"
    write_role = "viewer"  # asking changes nothing; keeping the answer takes an engineer

    def get_queryset(self) -> Any:
        return plan_list()

    @extend_schema(
        request=PlanRequestSerializer, responses={200: PlanReplySerializer, 201: PlanReplySerializer}
    )
    def create(self, request: Request) -> Response:
        asked = PlanRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        save = asked.validated_data["save"]
        if save and not has_role(request.user, "engineer"):
            raise Forbidden("Keeping a plan takes an engineer. Ask without `save` to see the answer.")
        pair = {name: asked.validated_data[name] for name in ("workload", "device_model")}
        answer = plan_make(**pair, question=asked.question())
        plan = plan_save(answer=answer, user=person(request)) if save else None
        reply = {"id": plan.pk if plan else None, **as_json(answer)}
        return Response(reply, status=201 if plan else 200)

    @extend_schema(
        request=PlanSweepRequestSerializer, responses={200: BudgetAnswerSerializer(many=True)}, filters=False
    )
    @action(detail=False, methods=["post"], pagination_class=None, filterset_class=None)
    def sweep(self, request: Request) -> Response:
        """The choice for each of several power budgets; nothing is kept."""
        asked = PlanSweepRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        pair = {name: asked.validated_data[name] for name in ("workload", "device_model")}
        powers_mw = asked.validated_data["power_mw"]
        return Response(as_json(plan_sweep(**pair, question=asked.question(), powers_mw=powers_mw)))

    @extend_schema(request=DeviceNamedSerializer, responses={202: SweepSerializer})
    @action(detail=True, methods=["post"], write_role="engineer")
    def verify(self, request: Request, pk: str) -> Response:
        plan, device = self.get_object(), device_named(request)
        return sweep_answer(plan_verify(plan=plan, device=device, user=person(request)))
