from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Model, QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView


class NewestFirst(CursorPagination):
    """Pages by a whole-numbered column, so that a page costs the same wherever it is."""

    ordering: Any = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_page_size(self, request: Request) -> int:
        asked = request.query_params.get("page_size", "")
        if asked and not (_is_id(asked) and 1 <= int(asked) <= self.max_page_size):
            raise ValidationError({"page_size": [f"A whole number from 1 to {self.max_page_size}."]})
        return int(asked or self.page_size)

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "page_size":
                limits = {"minimum": 1, "maximum": self.max_page_size, "default": self.page_size}
                parameter["schema"] |= limits
        return parameters

    def decode_cursor(self, request: Request) -> Cursor | None:
        cursor = super().decode_cursor(request)
        if cursor and cursor.position is not None and not _is_id(str(cursor.position)):
            raise NotFound("This cursor is not one of ours. Start again without it.")
        return cursor


class ByRank(NewestFirst):
    ordering = "rank"
    page_size = 1000


def rows_of(whole: QuerySet[Any], keys: Sequence[Any]) -> list[Any]:
    """In the order of their keys; without those that are gone by now."""
    found: Mapping[Any, Model] = whole.in_bulk(keys)
    return [found[key] for key in keys if key in found]


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
