from typing import Any

from django.db.models import QuerySet
from django_filters import MultipleChoiceFilter
from django_filters.rest_framework import DjangoFilterBackend
from django_filters.utils import translate_validation
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

PAGING = {"cursor", "page_size"}


class StrictFilterBackend(DjangoFilterBackend):
    """A misspelt filter, or a second value of one that takes one only, is refused; ignoring it would answer
    another question."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: Any) -> QuerySet:
        filterset: Any = self.get_filterset(request, queryset, view)
        known = {"format", *(filterset.filters if filterset else ()), *(PAGING if view.paginator else ())}
        if getattr(view, "detail", False) is False and (unknown := set(request.query_params) - known):
            names = ", ".join(sorted(known))
            raise ValidationError({name: [f"No such filter. There are: {names}."] for name in unknown})
        filters = filterset.filters if filterset else {}
        several = {name for name, each in filters.items() if isinstance(each, MultipleChoiceFilter)}
        given = {name for name, values in request.query_params.lists() if len(values) > 1}
        if twice := given - several:
            raise ValidationError({name: ["Given more than once. Take one value."] for name in twice})
        if filterset and not filterset.is_valid():
            raise translate_validation(filterset.errors)
        view.filterset = filterset
        return filterset.qs if filterset else queryset
