"""Facets for lists of some hundred rows, which are counted in memory."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from frontend.browsing import Browse, Chip, Facet, address, facet_chips, hidden_fields
from profiling.filter_fields import FacetedFilter, filters_in

WORDS = {"true": "yes", "false": "no"}


class Kind(NamedTuple):
    """A facet of a list: its name in the address, its label, the field it stands for, and where that is not
    for people to read, the one that is."""

    name: str
    label: str
    field: str
    title: str = ""


def list_answer(
    request: HttpRequest, template: str, browse: Browse, chosen: FacetedFilter, kinds: Sequence[Kind]
) -> HttpResponse:
    context = {"browse": browse, **facet_context(chosen, request.GET, kinds)}
    return render(request, template, context, status=400 if chosen.form.errors else 200)


def facet_context(chosen: FacetedFilter, asked: QueryDict, kinds: Sequence[Kind]) -> dict[str, Any]:
    """What the template of the filters shows."""
    facets, labels = counted_facets(chosen, kinds), {kind.name: kind.label for kind in kinds}
    own = [*labels, "search"]
    plain = filters_in(asked, [name for name in chosen.filters if name not in own])
    others = [Chip(f"{name} {value}", address(asked, **{name: None})) for name, value in plain.items()]
    return {
        "facets": facets,
        "chips": [*facet_chips(asked, facets), *others],
        "kept": hidden_fields(asked, own),
        "faults": [
            f"{labels.get(name, name)}: {said[0]} Left out." for name, said in chosen.form.errors.items()
        ],
    }


def counted_facets(chosen: FacetedFilter, kinds: Sequence[Kind]) -> list[Facet]:
    """Each facet's values, and how many rows each alone would leave with the other facets' choices kept."""
    wanted = chosen.chosen([kind.name for kind in kinds])
    found = chosen.apart_from(
        [kind.name for kind in kinds], chosen.queryset.model._default_manager.order_by()
    )
    fields = [kind.field for kind in kinds] + [kind.title or kind.field for kind in kinds]
    cells = [tuple(map(_plain, row)) for row in found.values_list(*fields)]
    places = {kind.name: place for place, kind in enumerate(kinds)}
    facets = []
    for place, kind in enumerate(kinds):
        others = [(places[name], values) for name, values in wanted.items() if name != kind.name]
        left = [row for row in cells if all(row[other] in values for other, values in others)]
        counts, own = Counter(row[place] for row in left if row[place]), wanted.get(kind.name, [])
        titles = {row[place]: row[len(kinds) + place] for row in cells} | WORDS
        values = sorted({*counts, *own}, key=_by_size)
        options = [(value, titles.get(value, value), counts[value]) for value in values]
        facets.append(Facet(kind.name, kind.label, own, options))
    return facets


def _by_size(value: str) -> tuple[int, str]:
    """Numbers as such, before words."""
    return (int(value), value) if value.isdecimal() else (sys.maxsize, value)


def _plain(value: Any) -> str:
    """As it stands in the address."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
