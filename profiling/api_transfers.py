"""Uploads in pieces, after the fashion of tus: POST begins, HEAD says where to go on, PATCH sends."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import UnreadablePostError
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from profiling.api_sweeps import person
from profiling.errors import InvalidInput, LengthRequired
from profiling.idempotency import idempotency_key, key_parameter
from profiling.models import Transfer
from profiling.serializers_transfers import TransferRequestSerializer, TransferSerializer
from profiling.services.transfers import (
    PIECE,
    transfer_begin,
    transfer_drop,
    transfer_finish,
    transfer_offset,
    transfer_take,
)

KEY = key_parameter("sent again, goes on with the first transfer")
OFFSET = OpenApiParameter(
    "Upload-Offset", int, OpenApiParameter.HEADER, required=True, description="of the first byte in the body"
)


class TransferViewSet(viewsets.GenericViewSet):
    queryset = Transfer.objects.none()
    serializer_class = TransferSerializer
    filter_backends: list[Any] = []
    pagination_class = None
    read_role = "engineer"
    write_scope = "upload"

    def get_queryset(self) -> QuerySet[Transfer]:
        return Transfer.objects.filter(user=person(self.request)).select_related("user")

    @extend_schema(
        parameters=[KEY],
        request=TransferRequestSerializer,
        responses={201: TransferSerializer, 200: TransferSerializer},
    )
    def create(self, request: Request) -> Response:
        """Announce a file that will come in pieces. What it is for is checked before any byte is sent."""
        key = idempotency_key(request)
        asked = TransferRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        file = {name: asked.validated_data[name] for name in ("filename", "size")}
        transfer, new = transfer_begin(
            user=person(request), about=asked.initial_data, idempotency_key=key, **file
        )
        return answer(transfer, 201 if new else 200)

    @extend_schema(responses=TransferSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Where to go on: `offset`, which HEAD answers as the header Upload-Offset."""
        return answer(self.get_object())

    @extend_schema(
        parameters=[OFFSET],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses=TransferSerializer,
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        """The next bytes. With the last of them the file is an upload, and the answer names it."""
        transfer = self.get_object()
        there = transfer.size if transfer.upload_id else taken(transfer, request)
        if there == transfer.size and not transfer.upload_id:
            about = TransferRequestSerializer(data=transfer.about)
            about.is_valid(raise_exception=True)
            beside = {k: v for k, v in about.validated_data.items() if k not in NOT_BESIDE}
            transfer_finish(transfer=transfer, **beside)
        return answer(transfer)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Give up a transfer; an upload that came of it stays."""
        transfer_drop(transfer=self.get_object())
        return Response(status=204)


NOT_BESIDE = ("filename", "size")


def taken(transfer: Transfer, request: Request) -> int:
    offset = request.headers.get("Upload-Offset", "")
    if not (offset.isascii() and offset.isdecimal() and len(offset) < 19):
        raise InvalidInput("Say in Upload-Offset at which byte the body begins.")
    if "CONTENT_LENGTH" not in request.META and "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthRequired("Say how long the piece is (Content-Length).")
    return transfer_take(transfer=transfer, offset=int(offset), chunks=pieces(request))


def pieces(request: Request) -> Iterator[bytes]:
    try:
        while request.stream and (piece := request.stream.read(PIECE)):
            yield piece
    except UnreadablePostError:
        return  # nobody is left to be told; the next request goes on from here


def answer(transfer: Transfer, status: int = 200) -> Response:
    headers = {
        "Location": reverse("api:transfer-detail", args=[transfer.pk]),
        "Upload-Offset": str(transfer_offset(transfer)),
        "Upload-Length": str(transfer.size),
        "Cache-Control": "no-store",
    }
    return Response(TransferSerializer(transfer).data, status=status, headers=headers)
