from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class Strict(serializers.Serializer):
    """Refuses a field that does not exist: a limit misspelt would be no limit, and nobody would know."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = set(data) - set(self.fields) if isinstance(data, Mapping) else set()
        if not unknown:
            return super().to_internal_value(data)
        names = ", ".join(sorted(name for name, field in self.fields.items() if not field.read_only))
        faults: dict[str, Any] = {
            str(name): [f"No such field. There are: {names}."] for name in sorted(unknown, key=str)
        }
        try:
            super().to_internal_value(data)
        except serializers.ValidationError as error:
            if isinstance(error.detail, dict):
                faults |= error.detail
        raise serializers.ValidationError(faults)


def strict_components() -> set[str]:
    """Their names in the schema."""
    found, waiting = set[str](), [Strict]
    while waiting:
        kind = waiting.pop()
        found.add(kind.__name__.removesuffix("Serializer"))
        waiting += kind.__subclasses__()
    return {f"{prefix}{name}Request" for name in found for prefix in ("", "Patched")}
