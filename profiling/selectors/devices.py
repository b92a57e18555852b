from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
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


def _count_of(things: QuerySet[Any]) -> Coalesce:
    """By a subquery, since a join would sort a million runs."""
    mine = things.filter(device_model=OuterRef("pk")).order_by().values("device_model")
    return Coalesce(Subquery(mine.annotate(count=Count("*")).values("count")), 0)
