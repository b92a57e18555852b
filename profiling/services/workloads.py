from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from profiling.errors import Conflict, Forbidden, InvalidInput
from profiling.models import Run, Workload
from profiling.permissions import has_role
from profiling.services.checks import check_fields

# What was computed. Changed after a measurement, it would make the measurement say something else.
DEFINING = ("kind", "network", "dataset", "minibatch", "sequence_length", "precision", "loader_workers")


@transaction.atomic
def workload_create(*, user: User, name: str, **fields: Any) -> Workload:
    name = name.strip()
    workload = Workload(name=name, slug=_free_slug(name), owner=user, **fields)
    check_fields(workload)
    workload.save()
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
    return workload


def _free_slug(name: str) -> str:
    base = slugify(name)[:70]
    if not base:
        raise InvalidInput(
            f"The name {name!r} needs at least one letter or digit.",
            errors={"name": ["needs a letter or digit"]},
        )
    taken = set(Workload.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (base, *numbered) if slug not in taken)
