from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.api_sweeps import person
from profiling.filters import DeviceFilter, WorkloadFilter
from profiling.models import Device, DeviceModel, PowerMode, Workload
from profiling.pagination import ByRank
from profiling.permissions import SessionOnly
from profiling.serializers import (
    DeviceModelSerializer,
    DeviceSerializer,
    EnrolCommandSerializer,
    NewDeviceSerializer,
    PowerModeSerializer,
    WorkloadSerializer,
)
from profiling.services.devices import device_create, device_token_create, enrol_command
from profiling.services.workloads import workload_create, workload_update


class DeviceModelViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = DeviceModel.objects.all()
    serializer_class = DeviceModelSerializer
    lookup_field = "slug"

    @extend_schema(responses=PowerModeSerializer(many=True))
    @action(
        detail=True, url_path="power-modes", pagination_class=ByRank, serializer_class=PowerModeSerializer
    )
    def power_modes(self, request: Request, slug: str) -> Response:
        """Every legal mode, in the order of its rank."""
        modes = PowerMode.objects.filter(device_model=self.get_object(), rank__isnull=False)
        page = self.paginate_queryset(modes)
        return self.get_paginated_response(PowerModeSerializer(page, many=True).data)


class DeviceViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Device.objects.select_related("device_model")
    serializer_class = DeviceSerializer
    filterset_class = DeviceFilter
    write_scope = "upload"
    lookup_field = "slug"

    @extend_schema(request=NewDeviceSerializer, responses={201: DeviceSerializer})
    def create(self, request: Request) -> Response:
        """Register a board, or with the driver `host` an ordinary Linux machine."""
        asked = NewDeviceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        device = device_create(user=person(request), **asked.validated_data)
        return Response(DeviceSerializer(device).data, status=201)

    @extend_schema(request=None, responses={201: EnrolCommandSerializer})
    @action(detail=True, methods=["post"], permission_classes=[SessionOnly])
    def token(self, request: Request, slug: str) -> Response:
        """A token for the board's agent, and the command that enrols it. Both are in this answer alone."""
        device = self.get_object()
        _, text = device_token_create(device=device, user=person(request))
        command = enrol_command(device=device, server=request.build_absolute_uri("/"), token=text)
        return Response({"token": text, "command": command}, status=201)


class WorkloadViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, viewsets.ReadOnlyModelViewSet):
    queryset = Workload.objects.select_related("owner", "package__uploader")
    serializer_class = WorkloadSerializer
    filterset_class = WorkloadFilter
    write_scope = "upload"
    lookup_field = "slug"
    http_method_names = ["get", "post", "patch", "head", "options"]

    def perform_create(self, serializer: Any) -> None:
        serializer.instance = workload_create(user=person(self.request), **serializer.validated_data)

    def perform_update(self, serializer: Any) -> None:
        workload_update(workload=serializer.instance, user=person(self.request), **serializer.validated_data)
