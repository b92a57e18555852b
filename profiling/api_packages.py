from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from profiling.api_sweeps import person
from profiling.api_uploads import RawBodyParser, check_length
from profiling.models import Workload, WorkloadPackage
from profiling.serializers_packages import PackageRequestSerializer, WorkloadPackageSerializer
from profiling.services.packages import package_receive

SENT: dict[str, Any] = {
    "parameters": [OpenApiParameter("filename", str, description="for a raw body")],
    "request": {
        "multipart/form-data": PackageRequestSerializer,
        "application/octet-stream": OpenApiTypes.BINARY,
    },
    "responses": {200: WorkloadPackageSerializer, 201: WorkloadPackageSerializer},
}


class PackageView(APIView):
    write_scope = "upload"
    parser_classes = [MultiPartParser, RawBodyParser]

    @extend_schema(responses=WorkloadPackageSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What was sent as the workload's own code or network; 404 when nothing was."""
        package = get_object_or_404(WorkloadPackage, workload__slug=slug)
        return Response(WorkloadPackageSerializer(package).data)

    @extend_schema(**SENT)
    def post(self, request: Request, slug: str) -> Response:
        """Send the workload's own code or network: a zip with workload.py, a torch.export or an ONNX file."""
        check_length(request)
        workload = get_object_or_404(Workload, slug=slug)
        asked = PackageRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        package, new = package_receive(workload=workload, user=person(request), **asked.validated_data)
        return Response(WorkloadPackageSerializer(package).data, status=201 if new else 200)

    @extend_schema(operation_id="workloads_package_put", **SENT)
    def put(self, request: Request, slug: str) -> Response:
        """The same as POST."""
        return self.post(request, slug)
