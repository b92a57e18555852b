"""Which lines of the audit log: the same filters on the page and in the API."""

import django_filters as filters
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.forms import DateInput, GenericIPAddressField

from profiling.models import AuditEntry

DAY = DateInput({"type": "date"}, format="%Y-%m-%d")


class AddressFilter(filters.CharFilter):
    """PostgreSQL compares addresses, and takes nothing else for one."""

    field_class = GenericIPAddressField


class AuditFilter(filters.FilterSet):
    actor = filters.ModelChoiceFilter(
        queryset=User.objects.order_by("username"),
        to_field_name="username",
        label="Who",
        empty_label="anybody",
    )
    action = filters.ChoiceFilter(
        choices=sorted(AuditEntry.Action.choices, key=lambda choice: choice[0]),
        label="Did",
        empty_label="anything",
    )
    via = filters.ChoiceFilter(choices=AuditEntry.Via.choices, label="By way of", empty_label="any")
    words = filters.CharFilter(method="with_words", label="What")
    address = AddressFilter(label="From address")
    since = filters.DateFilter(field_name="at", lookup_expr="date__gte", label="From day", widget=DAY)
    until = filters.DateFilter(field_name="at", lookup_expr="date__lte", label="To day", widget=DAY)

    class Meta:
        model = AuditEntry
        fields = ["kind", "object_id"]

    def with_words(self, entries: QuerySet[AuditEntry], name: str, words: str) -> QuerySet[AuditEntry]:
        for word in words.split()[:8]:
            entries = entries.filter(Q(label__icontains=word) | Q(actor_name__icontains=word))
        return entries
