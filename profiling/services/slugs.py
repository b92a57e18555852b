from django.db.models import Model
from django.utils.text import slugify

from profiling.errors import InvalidInput


def free_slug(model: type[Model], name: str, longest: int) -> str:
    """Made from the name; numbered when another has it."""
    base = slugify(name)[:longest]
    if not base:
        raise InvalidInput(
            f"The name {name!r} needs at least one letter or digit.",
            errors={"name": ["needs a letter or digit"]},
        )
    same = model._default_manager.filter(slug__startswith=base)
    taken = set(same.values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (base, *numbered) if slug not in taken)
