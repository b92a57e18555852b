from django.db.models import QuerySet

from profiling.models import AuditEntry


def audit_list() -> QuerySet[AuditEntry]:
    return AuditEntry.objects.select_related("actor").order_by("-id")
