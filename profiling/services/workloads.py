from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from profiling.errors import Conflict, Forbidden
from profiling.models import Run, Workload
from profiling.permissions import has_role
from profiling.services.audit import Action, audit
from profiling.services.checks import check_fields
from profiling.services.slugs import free_slug

# What was computed. Changed after a measurement, it would make the measurement say something else.
DEFINING = ("kind", "network", "dataset", "minibatch", "sequence_length", "precision", "loader_workers")


@transaction.atomic
def workload_create(*, user: User, name: str, **fields: Any) -> Workload:
    name = name.strip()
    workload = Workload(name=name, slug=free_slug(Workload, name, 70), owner=user, **fields)
    check_fields(workload)
    workload.save()
    audit(Action.WORKLOAD_CREATE, workload, user=user)
    return workload


@transaction.atomic
def workload_update(*, workload: Workload, user: User, **fields: Any) -> Workload:
    """The slug stays, since addresses and programs hold it. Unknown facts may be filled in at any time."""
    if workload.owner_id != user.pk and not has_role(user, "admin"):
        raise Forbidden(
            f"Only {workload.owner or 'an administrator'} or an administrator may change {workload}."
        )
    changed = {
        name: value
        for name, value in fields.items()
        if name in DEFINING and getattr(workload, name) not in (value, None, "")
    }
    if changed and Run.objects.filter(workload=workload).exists():
        raise Conflict(
            f"{workload} has been measured, so its {', '.join(changed)} cannot change. Make a new workload."
        )
    for name, value in fields.items():
        setattr(workload, name, value.strip() if name == "name" else value)
    check_fields(workload)
    workload.save()
    audit(Action.WORKLOAD_CHANGE, workload, user=user, changed=sorted(fields))
    return workload
