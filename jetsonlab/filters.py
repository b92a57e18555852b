from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

PAGING = {"cursor", "page_size"}


class StrictFilterBackend(DjangoFilterBackend):
    """A misspelt filter, or one given twice, is refused; ignoring it would answer another question."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: Any) -> QuerySet:
        filterset: Any = self.get_filterset(request, queryset, view)
        known = {"format", *(filterset.filters if filterset else ()), *(PAGING if view.paginator else ())}
        if getattr(view, "detail", False) is False and (unknown := set(request.query_params) - known):
            names = ", ".join(sorted(known))
            raise ValidationError({name: [f"No such filter. There are: {names}."] for name in unknown})
        if twice := [name for name, values in request.query_params.lists() if len(values) > 1]:
            raise ValidationError({name: ["Given more than once. Take one value."] for name in twice})
        return super().filter_queryset(request, queryset, view)
