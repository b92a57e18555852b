"""What filters take: moments, truths, and facets of several values."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC
from typing import Any, Self

import django_filters as filters
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import EMPTY_VALUES, slug_re
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from profiling.selectors.search import holding, words_of

Filters = Mapping[str, str | list[str]]
MOST_WORDS = 8
TRUTHS = {"1": "true", "0": "false"}


def filters_in(query: QueryDict, names: Iterable[str]) -> dict[str, str | list[str]]:
    """What an address says of these names, as JSON keeps it: a value, or a list of several."""
    given = {name: [value for value in query.getlist(name) if value] for name in names}
    return {name: values if len(values) > 1 else values[0] for name, values in given.items() if values}


def as_truth(value: object) -> str:
    """As "true" or "false"; else the word itself."""
    word = str(value).lower()
    return TRUTHS.get(word, word)


def query_of(asked: Filters) -> MultiValueDict[str, str]:
    return MultiValueDict(
        {name: values if isinstance(values, list) else [values] for name, values in asked.items()}
    )


class IdFilter(filters.NumberFilter):
    """Whole, and small enough for a database: of a foreign key Django does not look."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, min_value=0, max_value=2**63 - 1, **options)


class MomentField(forms.DateTimeField):
    """The calendar's first and last hours are outside of it in other time zones, as databases tell them."""

    def to_python(self, value: Any) -> Any:
        told = super().to_python(value)
        try:
            return told and told.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


class EndField(MomentField):
    """A day alone means all of it."""

    def to_python(self, value: Any) -> Any:
        day = isinstance(value, str) and ":" not in value and bool(value.strip())
        return super().to_python(f"{value.strip()} 23:59:59.999999" if day else value)


class FromFilter(filters.DateTimeFilter):
    field_class = MomentField


class UntilFilter(filters.DateTimeFilter):
    field_class = EndField


class BooleanField(forms.Field):
    """Django's takes any word it does not know for no answer, which here would be no filter."""

    def to_python(self, value: Any) -> bool | None:
        if value in EMPTY_VALUES:
            return None
        word = as_truth(value)
        if word not in TRUTHS.values():
            raise ValidationError("%(value)s is neither true nor false.", params={"value": value})
        return word == "true"


class BooleanFilter(filters.BooleanFilter):
    field_class = BooleanField


class WordsField(forms.CharField):
    """PostgreSQL takes NUL in no text, so that it is looked for in vain."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(str(value or "").replace("\0", " ")))


class WordsFilter(filters.CharFilter):
    """Each word stands in one of the fields."""

    field_class = WordsField

    def __init__(self, *names: Any, fields: tuple[str, ...] = (), **about: Any) -> None:
        super().__init__(*names, **about)
        self.fields = fields

    def filter(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        return rows.filter(holding(" ".join(words_of(text)[:MOST_WORDS]), self.fields)) if text else rows


class StrangeValues(ValidationError):
    """left: what the facet asks without the values there are not."""

    def __init__(self, said: list[str], left: list[Any]) -> None:
        # As a parameter, since what was asked may hold a %, which django-filter would take for a place.
        super().__init__("%(said)s", code="invalid_choice", params={"said": " ".join(said)})
        self.left = left


class SeveralField(forms.Field):
    """Values of which one is enough."""

    widget = forms.SelectMultiple

    def clean(self, value: Any) -> list[Any]:
        found, said = dict[Any, None](), []
        for each in dict.fromkeys(value or ()):
            try:
                found |= {} if each in EMPTY_VALUES else {self.one(each): None}
            except ValidationError as error:
                said += error.messages
        if said:
            raise StrangeValues(said, [*found])
        return [*found]

    def one(self, value: Any) -> Any:
        raise NotImplementedError


class TextsField(SeveralField):
    def one(self, value: Any) -> str:
        return str(forms.CharField().clean(value))


class NumbersField(SeveralField):
    def one(self, value: Any) -> int:
        return int(forms.IntegerField(min_value=0, max_value=2**31 - 1).clean(value))


class ChoicesField(SeveralField):
    def __init__(self, *, choices: Collection[tuple[str, str]], **about: Any) -> None:
        super().__init__(**about)
        self.choices = choices

    def one(self, value: Any) -> str:
        known = [name for name, _ in self.choices]
        if value not in known:
            raise ValidationError(f"Select a valid choice. {value} is none of: {', '.join(known)}.")
        return str(value)


class TruthsField(ChoicesField):
    def one(self, value: Any) -> str:
        return super().one(as_truth(value))


class SlugsField(SeveralField):
    def __init__(self, *, queryset: QuerySet[Any], to_field_name: str, **about: Any) -> None:
        super().__init__(**about)
        self.queryset, self.key = queryset, to_field_name
        self.found: dict[str, Any] = {}

    @property
    def choices(self) -> list[tuple[str, str]]:
        return [(getattr(each, self.key), str(each)) for each in self.queryset.all()]

    def clean(self, value: Any) -> list[Any]:
        self.found = self.look_up([str(each) for each in value or ()])
        return super().clean(value)

    def look_up(self, values: Collection[str]) -> dict[str, Any]:
        """All at once."""
        slugs = [each for each in values if slug_re.match(each)]
        return self.queryset.in_bulk(slugs, field_name=self.key) if slugs else {}

    def one(self, value: Any) -> Any:
        if value not in self.found:
            raise ValidationError(f"Select a valid choice. {value} is not one of the available choices.")
        return self.found[value]


class SeveralFilter(filters.MultipleChoiceFilter):
    """Given more than once, a row needs one of the values."""

    field_class: Any = TextsField

    def filter(self, rows: QuerySet[Any], values: list[Any] | None) -> QuerySet[Any]:
        if not values:
            return rows
        one = len(values) == 1  # for which databases have the better plans
        return rows.filter(**({self.field_name: values[0]} if one else {f"{self.field_name}__in": values}))


class NumbersFilter(SeveralFilter):
    field_class = NumbersField


class ChoicesFilter(SeveralFilter):
    field_class = ChoicesField


class TruthsFilter(ChoicesFilter):
    """Both values together leave everything."""

    field_class = TruthsField

    def __init__(self, *names: Any, yes: str = "yes", no: str = "no", **about: Any) -> None:
        super().__init__(*names, choices=[("true", yes), ("false", no)], **about)

    def filter(self, rows: QuerySet[Any], values: list[str] | None) -> QuerySet[Any]:
        return rows.filter(**{self.field_name: values == ["true"]}) if values and len(values) == 1 else rows


class SlugsFilter(SeveralFilter):
    field_class = SlugsField

    def __init__(self, *names: Any, **about: Any) -> None:
        super().__init__(*names, to_field_name="slug", **about)


class FacetedFilter(filters.FilterSet):
    """Filters of which some are facets: the same in a page's address and in the API's."""

    def __init__(self, data: Any = None, *others: Any, **more: Any) -> None:
        data = data if data is None or isinstance(data, MultiValueDict) else query_of(data)
        super().__init__(data, *others, **more)

    @property
    def understood(self) -> dict[str, Any]:
        """Name → value, of the filters whose values make sense."""
        return self.form.cleaned_data if self.form.is_bound and self.form.errors is not None else {}

    def lenient(self) -> Self:
        """As a page takes it: a value there is not does not take its facet's other values along."""
        for name, said in self.form.errors.as_data().items():
            self.form.cleaned_data[name] = getattr(said[0], "left", None)
        return self

    def chosen(self, facets: Collection[str]) -> dict[str, list[str]]:
        """Facet → its values, as they stand in the address."""
        told = {name: self.understood.get(name) for name in facets}
        return {name: [str(getattr(v, "slug", v)) for v in values] for name, values in told.items() if values}

    def apart_from(self, facets: Collection[str], rows: QuerySet[Any] | None = None) -> QuerySet[Any]:
        """What the other filters leave, of all rows or of these."""
        rows = self.queryset.all() if rows is None else rows
        for name, value in self.understood.items():
            rows = rows if name in facets else self.filters[name].filter(rows, value)
        return rows
