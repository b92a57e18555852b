"""What a board's agent says over HTTPS, with its own device token."""

from typing import Any

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from profiling.errors import NotFound
from profiling.models import ApiToken, Device, Run
from profiling.permissions import has_role
from profiling.serializers_agents import (
    ClaimedRunSerializer,
    ClaimSerializer,
    EnrolSerializer,
    FailureSerializer,
    GoOnSerializer,
    HeartbeatSerializer,
    ModeSerializer,
    RunResultSerializer,
)
from profiling.services.agents import (
    device_enrol,
    mode_tell,
    run_claim,
    run_complete,
    run_fail,
    run_heartbeat,
)
from profiling.services.packages import package_for_device


class DeviceTokenPermission(BasePermission):
    """Only a token of scope `device`, only for the board it was made for, and only while its owner might make
    one."""

    message = "This needs a board's own token, of scope device, whose owner is an engineer."

    def has_permission(self, request: Request, view: APIView) -> bool:
        token = request.auth
        meant = isinstance(token, ApiToken) and "device" in token.scopes and token.device_id is not None
        return meant and has_role(request.user, "engineer")


class AgentView(APIView):
    permission_classes = [DeviceTokenPermission]

    def device(self, request: Request) -> Device:
        return Device.objects.select_related("device_model").get(pk=request.auth.device_id)  # type: ignore[union-attr]

    def run(self, request: Request, pk: int) -> Run:
        run = Run.objects.select_related("device", "sweep").filter(pk=pk, device=self.device(request)).first()
        if run is None:
            raise NotFound(f"Run {pk} is not one of this board's. Claim a run first.")
        return run

    def parsed(self, request: Request, serializer_class: Any) -> dict[str, Any]:
        serializer = serializer_class(data=request.data)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data


class PingView(AgentView):
    @extend_schema(request=None, responses=GoOnSerializer)
    def post(self, request: Request) -> Response:
        """Whether this token is good; changes nothing."""
        return Response({"go_on": True})


class EnrolView(AgentView):
    @extend_schema(request=EnrolSerializer, responses=GoOnSerializer)
    def post(self, request: Request) -> Response:
        """Tell the server what this board is: its clock tables, rails, software and stock modes."""
        device_enrol(device=self.device(request), **self.parsed(request, EnrolSerializer))
        return Response({"go_on": True})


class ModeView(AgentView):
    @extend_schema(request=ModeSerializer, responses=GoOnSerializer)
    def post(self, request: Request) -> Response:
        """Tell what somebody applied on the board by hand, with `jetsonlab-agent apply` or `restore`."""
        mode_tell(device=self.device(request), **self.parsed(request, ModeSerializer))
        return Response({"go_on": True})


class PackageFileView(AgentView):
    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, sha256: str) -> FileResponse:
        """A package that a pending run of this board needs."""
        package = package_for_device(device=self.device(request), sha256=sha256)
        return FileResponse(package.file.open(), as_attachment=True, filename=package.filename)


class ClaimView(AgentView):
    @extend_schema(
        request=ClaimSerializer,
        responses={200: ClaimedRunSerializer, 204: OpenApiResponse(description="nothing to do")},
    )
    def post(self, request: Request) -> Response:
        """Take the next pending run of this board."""
        run = run_claim(device=self.device(request), **self.parsed(request, ClaimSerializer))
        return Response(ClaimedRunSerializer(run).data) if run else Response(status=204)


class HeartbeatView(AgentView):
    @extend_schema(request=HeartbeatSerializer, responses=GoOnSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Report progress; `go_on` false means the run was cancelled."""
        go_on = run_heartbeat(run=self.run(request, pk), **self.parsed(request, HeartbeatSerializer))
        return Response({"go_on": go_on})


class ResultView(AgentView):
    @extend_schema(request=RunResultSerializer, responses=GoOnSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Deliver a measured run; delivering it again changes nothing."""
        run_complete(run=self.run(request, pk), **self.parsed(request, RunResultSerializer))
        return Response({"go_on": True})


class FailureView(AgentView):
    @extend_schema(request=FailureSerializer, responses=GoOnSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Give a run back with the reason."""
        run_fail(run=self.run(request, pk), **self.parsed(request, FailureSerializer))
        return Response({"go_on": True})
