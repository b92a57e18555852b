from rest_framework import serializers, viewsets
from rest_framework.fields import Field

from profiling.audit_filter import AuditFilter
from profiling.models import AuditEntry


class AuditEntrySerializer(serializers.ModelSerializer):
    actor: Field = serializers.CharField(source="actor_name", help_text="empty: nobody was signed in")
    details = serializers.DictField(read_only=True)

    class Meta:
        model = AuditEntry
        fields = ["id", "at", "actor", "token", "via", "address", "action", "kind", "object_id", "label"]
        fields += ["details"]


class AuditViewSet(viewsets.ReadOnlyModelViewSet):
    """Who did what, when and from where; for administrators."""

    queryset = AuditEntry.objects.all()
    serializer_class = AuditEntrySerializer
    filterset_class = AuditFilter
    read_role = "admin"
