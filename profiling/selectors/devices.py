from datetime import datetime

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from profiling.models import Device, DeviceModel, Run
from profiling.services.agents import SILENCE

OPEN_SWEEP = Q(sweeps__state__in=("pending", "running"))


def device_list() -> QuerySet[Device]:
    """Boards in service first."""
    boards = Device.objects.select_related("device_model", "owner")
    return boards.annotate(sweeps_open=Count("sweeps", filter=OPEN_SWEEP)).order_by("retired", "name")


def alive_since() -> datetime:
    """A board heard of after this moment is online."""
    return timezone.now() - SILENCE


def device_model_list() -> QuerySet[DeviceModel]:
    complete = Q(runs__state=Run.State.COMPLETE)
    counts = {
        "device_count": Count("devices", distinct=True, filter=Q(devices__retired=False)),
        "run_count": Count("runs", distinct=True, filter=complete),
    }
    return DeviceModel.objects.annotate(**counts).order_by("name")
