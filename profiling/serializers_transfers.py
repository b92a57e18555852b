from typing import Any

from rest_framework import serializers

from profiling.models import Transfer
from profiling.serializers import UploadRequestSerializer
from profiling.services.transfers import transfer_offset


class TransferRequestSerializer(UploadRequestSerializer):
    file: Any = None  # comes in pieces
    filename = serializers.CharField(max_length=255)
    size = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="bytes of the whole file")


class TransferSerializer(serializers.ModelSerializer):
    offset = serializers.SerializerMethodField(help_text="bytes that are here: go on from there")

    class Meta:
        model = Transfer
        fields = ["id", "filename", "size", "offset", "upload", "created"]

    def get_offset(self, transfer: Transfer) -> int:
        return transfer_offset(transfer)
