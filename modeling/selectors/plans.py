from django.db.models import QuerySet

from modeling.models import Plan


def plan_list() -> QuerySet[Plan]:
    return Plan.objects.select_related(
        "workload", "device_model", "device", "power_mode", "requested_by", "verification"
    )
