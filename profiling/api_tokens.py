from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.api_sweeps import person
from profiling.models import ApiToken
from profiling.permissions import SessionOnly
from profiling.serializers import NewTokenSerializer, TokenRequestSerializer, TokenSerializer
from profiling.services.tokens import token_create, token_revoke


class TokenViewSet(mixins.DestroyModelMixin, viewsets.ReadOnlyModelViewSet):
    """One's own tokens."""

    queryset = ApiToken.objects.none()
    serializer_class = TokenSerializer
    permission_classes = [SessionOnly]

    def get_queryset(self) -> Any:
        return ApiToken.objects.filter(user=person(self.request)).select_related("device")

    @extend_schema(request=TokenRequestSerializer, responses={201: NewTokenSerializer})
    def create(self, request: Request) -> Response:
        """Make a token. Its text is in this answer and nowhere else."""
        asked = TokenRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        token, text = token_create(user=person(request), **asked.validated_data)
        return Response({**TokenSerializer(token).data, "text": text}, status=201)

    def perform_destroy(self, instance: ApiToken) -> None:
        """Revoked, and kept for the record."""
        token_revoke(token=instance, user=person(self.request))
