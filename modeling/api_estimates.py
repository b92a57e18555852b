from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from modeling.selectors.expected import estimate_of
from profiling.api_sweeps import SweepRequestSerializer


class SweepEstimateSerializer(serializers.Serializer):
    """Seconds on the board's own clock; null where a mode's time is neither measured nor predicted."""

    runs = serializers.IntegerField()
    core_switches = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    least_s = serializers.FloatField(help_text="what the protocol takes at least")
    unknown_times = serializers.IntegerField(help_text="modes whose time is not known")
    reboots = serializers.IntegerField()


class SweepEstimateView(APIView):
    write_role = "viewer"  # asking starts nothing
    write_scope = "plan"

    @extend_schema(request=SweepRequestSerializer, responses=SweepEstimateSerializer)
    def post(self, request: Request) -> Response:
        """What a sweep would take, without starting it."""
        asked = SweepRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return Response(asdict(estimate_of(asked.question())))
