"""Formats a client may ask for by ?format= or Accept. The bytes themselves are streamed past DRF."""

from typing import Any

from rest_framework.renderers import BaseRenderer, JSONRenderer


class Streamed(BaseRenderer):
    def render(self, data: Any, *_: Any, **__: Any) -> bytes:
        return JSONRenderer().render(data)


class CsvRenderer(Streamed):
    media_type = "text/csv"
    format = "csv"


class ParquetRenderer(Streamed):
    media_type = "application/vnd.apache.parquet"
    format = "parquet"
