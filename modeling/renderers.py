"""Columns of numbers as CSV."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import csv
from rest_framework.renderers import BaseRenderer, JSONRenderer


class ColumnsCSVRenderer(BaseRenderer):
    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self,
        data: Mapping[str, Sequence[Any] | None],
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        response = (renderer_context or {}).get("response")
        if response is not None and response.status_code >= 400:
            return JSONRenderer().render(data)
        buffer = io.BytesIO()
        csv.write_csv(pa.table({name: column for name, column in data.items() if column is not None}), buffer)
        return buffer.getvalue()
