from django.core.exceptions import ValidationError
from django.db.models import Model

from profiling.errors import InvalidInput


def check_fields(instance: Model) -> None:
    """What the fields and constraints of the instance forbid, every fault at once, field by field."""
    try:
        instance.full_clean()
    except ValidationError as error:
        faults = error.message_dict
        words = "; ".join(f"{name}: {' '.join(said)}" for name, said in faults.items())
        raise InvalidInput(f"{instance._meta.verbose_name}: {words}", errors=faults) from error
