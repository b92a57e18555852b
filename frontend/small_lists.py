"""Facets and words for lists of some hundred rows, which are counted in memory."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.http import QueryDict

from frontend.browsing import Facet
from profiling.selectors.search import words_of

MOST_WORDS = 8


class Kind(NamedTuple):
    """A facet of a list: its name in the address, its label, and the field it stands for."""

    name: str
    label: str
    field: str


def narrowed(
    rows: QuerySet[Any], asked: QueryDict, kinds: Sequence[Kind], words_in: Sequence[str]
) -> QuerySet[Any]:
    """The rows with the values asked for, in which every word is found."""
    for kind in kinds:
        if wanted := asked.get(kind.name):
            values = rows.model._default_manager.order_by().values_list(kind.field, flat=True).distinct()
            known = {str(value): value for value in values}
            rows = rows.filter(**{kind.field: known[wanted]}) if wanted in known else rows.none()
    return _with_words(rows, asked, words_in)


def _with_words(rows: QuerySet[Any], asked: QueryDict, words_in: Sequence[str]) -> QuerySet[Any]:
    for word in words_of(asked.get("search", ""))[:MOST_WORDS]:
        found = Q()
        for field in words_in:
            found |= Q(**{f"{field}__icontains": word})
        rows = rows.filter(found)
    return rows


def counted_facets(
    model: Any, asked: QueryDict, kinds: Sequence[Kind], words_in: Sequence[str]
) -> list[Facet]:
    """Each facet's values, and how many rows each would leave with the other choices kept."""
    found = _with_words(model._default_manager.order_by(), asked, words_in)
    cells = [tuple(map(_plain, row)) for row in found.values_list(*(kind.field for kind in kinds))]
    wanted = [asked.get(kind.name, "") for kind in kinds]
    facets = []
    for place, kind in enumerate(kinds):
        others = [each for each in range(len(kinds)) if each != place and wanted[each]]
        left = [row for row in cells if all(row[each] == wanted[each] for each in others)]
        counts = Counter(row[place] for row in left if row[place])
        values = sorted({*counts, wanted[place]} - {""}, key=_by_size)
        options = [(value, WORDS.get(value, value), counts[value]) for value in values]
        facets.append(Facet(kind.name, kind.label, wanted[place], options))
    return facets


WORDS = {"True": "yes", "False": "no"}


def names_of(kinds: Sequence[Kind]) -> list[str]:
    """What the address of such a list may ask."""
    return [*(kind.name for kind in kinds), "search"]


def _by_size(value: str) -> tuple[int, str]:
    """Numbers as such, before words."""
    return (int(value), value) if value.isdecimal() else (sys.maxsize, value)


def _plain(value: Any) -> str:
    return "" if value is None else str(value)
