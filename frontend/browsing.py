"""A list as the address asks for it: which rows, in which order, with which columns."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import F, QuerySet, Value
from django.db.models.expressions import OrderBy
from django.db.models.functions import NullIf
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from frontend.guards import PAGE_SIZE
from profiling.models import SavedView
from profiling.pagination import rows_of

OWN = ("page", "sort", "columns", "counts")
MOST_DIGITS = 16  # of a page's number: its first row is still an integer to a database


class Column(NamedTuple):
    """sort: the field that orders the list by this column, "" for none. blank: it may be "", which is
    unknown. usual: shown unless others are asked
    for. The first column of a list is the row's name and always there."""

    name: str
    title: str
    cell: Callable[[Any], Any]
    unit: str = ""
    sort: str = ""
    number: bool = False
    usual: bool = True
    blank: bool = False


class Head(NamedTuple):
    column: Column
    address: str
    direction: str


class Facet(NamedTuple):
    """chosen: the values of which a row needs one; none: any will do. options: value, label, and how many
    rows it alone would leave (None: not counted yet)."""

    name: str
    label: str
    chosen: Sequence[str]
    options: Sequence[tuple[str, str, int | None]]

    @property
    def titles(self) -> list[tuple[str, str]]:
        """Of what is chosen."""
        return [(value, label) for value, label, _ in self.options if value in self.chosen]

    @property
    def told(self) -> str:
        return ", ".join(title for _, title in self.titles)


class Chip(NamedTuple):
    """Something that filters, and the address without it."""

    words: str
    without: str


def facet_chips(asked: QueryDict, facets: Iterable[Facet]) -> list[Chip]:
    return [
        Chip(
            f"{facet.label} = {title}",
            address(asked, **{facet.name: [v for v in facet.chosen if v != value]}),
        )
        for facet in facets
        for value, title in facet.titles
    ]


def address(asked: QueryDict, **changes: str | list[str] | None) -> str:
    """The address with some of it changed, back on its first page."""
    query = asked.copy()
    query.pop("page", None)
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query.setlist(name, value if isinstance(value, list) else [value])
    return f"?{query.urlencode(safe=',')}"


def hidden_fields(asked: QueryDict, without: Iterable[str]) -> list[tuple[str, str]]:
    """What a form must carry along of the address besides its own fields."""
    own = {"page", *without}
    return [(name, value) for name, values in asked.lists() if name not in own for value in values if value]


@dataclass
class Browse:
    """order: that of the list until another is asked for, by a column's name; "-" in front: largest first.
    filters: what else the address may ask; beside: what it carries for the neighbouring tabs."""

    request: HttpRequest
    title: str
    page_name: SavedView.Page
    columns: tuple[Column, ...]
    order: str
    filters: Collection[str] = ()
    beside: Collection[str] = ()
    rows: list[tuple[str, list[tuple[Column, Any]]]] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    number: int = 1
    has_next: bool = False
    total: int | None = None

    @property
    def asked(self) -> QueryDict:
        return self.request.GET

    @property
    def home(self) -> str:
        return reverse(self.page_name)

    @property
    def shown(self) -> list[Column]:
        wanted = set(self.asked.getlist("columns"))
        chosen = [column for column in self.columns[1:] if column.name in wanted]
        return [self.columns[0], *(chosen or (column for column in self.columns[1:] if column.usual))]

    @property
    def sort(self) -> str:
        known = {column.name for column in self.columns if column.sort}
        asked = self.asked.get("sort", "")
        return asked if asked.removeprefix("-") in known else self.order

    @property
    def ordering(self) -> list[OrderBy | str]:
        """Unknown values last, either way round."""
        by_name = {column.name: column for column in self.columns}
        column, falls = by_name[self.sort.removeprefix("-")], self.sort.startswith("-")
        if column.sort == "pk":
            return ["-pk" if falls else "pk"]
        value = NullIf(column.sort, Value("")) if column.blank else F(column.sort)
        return [value.desc(nulls_last=True) if falls else value.asc(nulls_last=True), "-pk"]

    def heads(self) -> list[Head]:
        here, falls = self.sort.removeprefix("-"), self.sort.startswith("-")
        heads = []
        for column in self.shown:
            now = "" if column.name != here else "descending" if falls else "ascending"
            turned = column.name if now != "ascending" else f"-{column.name}"
            heads.append(Head(column, address(self.asked, sort=turned) if column.sort else "", now))
        return heads

    def take(
        self,
        found: QuerySet[Any],
        whole: QuerySet[Any],
        link: Callable[[Any], str],
        tell: Callable[[Sequence[Any]], None] = lambda rows: None,
        count: bool = False,
    ) -> "Browse":
        """One page of what is found: first its keys, which an index may answer, then these few rows whole.

        tell: adds to the rows what is dear, for all of them at once. count: also how many are found.
        """
        asked = self.asked.get("page", "1")
        self.number = max(1, int(asked)) if asked.isdecimal() and len(asked) < MOST_DIGITS else 1
        plain = found.select_related(None).defer(None).order_by(*self.ordering).values_list("pk", flat=True)
        keys = self._keys(plain)
        if not keys and self.number > 1:  # past the end: the last page there is
            self.number = max(1, -(-plain.count() // PAGE_SIZE))
            keys = self._keys(plain)
        self.has_next = len(keys) > PAGE_SIZE
        if count:
            self.total = found.count() if self.has_next or self.number > 1 else len(keys)
        self.items = rows_of(whole, keys[:PAGE_SIZE])
        tell(self.items)
        self.rows = [(link(row), [(column, column.cell(row)) for column in self.shown]) for row in self.items]
        return self

    def _keys(self, plain: QuerySet[Any, Any]) -> list[Any]:
        """Of the page's rows, and of one more where there is a next page."""
        start = (self.number - 1) * PAGE_SIZE
        return list(plain[start : start + PAGE_SIZE + 1])

    @property
    def first_index(self) -> int:
        return (self.number - 1) * PAGE_SIZE + 1

    @property
    def last_index(self) -> int:
        return self.first_index + len(self.rows) - 1

    @property
    def kept_columns(self) -> list[tuple[str, str]]:
        return hidden_fields(self.asked, ["columns"])

    @property
    def kept_order(self) -> list[tuple[str, str]]:
        """What a filter form carries along: order and columns."""
        return [(name, value) for name in ("sort", "columns") for value in self.asked.getlist(name) if value]

    @property
    def shared(self) -> str:
        """Search of the address for the neighbouring tabs: the filters."""
        kept = hidden_fields(self.asked, ["sort", "columns", "counts"])
        return f"?{urlencode(kept)}" if kept else ""

    @property
    def filtered(self) -> bool:
        return any(self.asked.get(name) for name in self.filters)

    @property
    def faults(self) -> list[str]:
        """What of the address this page does not know: it shows something else than was meant."""
        known, columns = {*OWN, *self.filters, *self.beside}, {column.name for column in self.columns}
        order = self.asked.get("sort", "")
        strange = [
            *(("filter", name) for name in self.asked if name not in known),
            *(("column", name) for name in self.asked.getlist("columns") if name and name not in columns),
            *([("order", order)] if order and order != self.sort else []),
        ]
        return [f"There is no {what} “{name[:60]}” here. Left out." for what, name in strange]

    @property
    def worth_a_view(self) -> bool:
        """Whether views and columns have anything to work on: not on a list that is still empty."""
        return bool(self.rows or self.filtered or not self.columns)

    @property
    def saved_views(self) -> list[SavedView]:
        user = self.request.user
        return list(user.saved_views.filter(page=self.page_name)) if user.is_authenticated else []
