from datetime import datetime
from typing import Any

from django.db.models import Case, Count, IntegerField, Q, QuerySet, When
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
    counts = {
        "device_count": _count_of(Device.objects.filter(retired=False)),
        "run_count": _count_of(Run.objects.filter(state=Run.State.COMPLETE)),
    }
    return DeviceModel.objects.annotate(**counts).order_by("name")


def _count_of(things: QuerySet[Any]) -> Case:
    """Counted in one pass beforehand: a join sorts a million runs, a subquery goes through them for each."""
    counts = things.order_by().values_list("device_model").annotate(count=Count("*"))
    return Case(*(When(pk=pk, then=count) for pk, count in counts), default=0, output_field=IntegerField())
