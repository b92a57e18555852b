from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class Strict(serializers.Serializer):
    """Refuses a field that does not exist: a limit misspelt would be no limit, and nobody would know.

    And true or false for a number, which DRF takes for 1 or 0.
    """

    def get_fields(self) -> dict[str, Any]:
        """Who chose wrongly is told what there is."""
        fields = super().get_fields()
        for field in fields.values():
            if isinstance(field, serializers.ChoiceField):
                known = ", ".join(map(str, field.choices))
                field.error_messages["invalid_choice"] = f"“{{input}}” is none of: {known}."
        return fields

    def to_internal_value(self, data: Any) -> Any:
        faults = self._faults(data) if isinstance(data, Mapping) else {}
        if not faults:
            return super().to_internal_value(data)
        try:
            super().to_internal_value(data)
        except serializers.ValidationError as error:
            if isinstance(error.detail, dict):
                faults = {**error.detail, **faults}
        raise serializers.ValidationError(faults)

    def _faults(self, data: Mapping[Any, Any]) -> dict[str, Any]:
        names = ", ".join(sorted(name for name, field in self.fields.items() if not field.read_only))
        faults = {
            str(name): [f"No such field. There are: {names}."] for name in data if name not in self.fields
        }
        numbers = [name for name, field in self.fields.items() if isinstance(field, serializers.FloatField)]
        return faults | {
            name: ["A valid number is required."] for name in numbers if isinstance(data.get(name), bool)
        }


def strict_components() -> set[str]:
    """Their names in the schema."""
    found, waiting = set[str](), [Strict]
    while waiting:
        kind = waiting.pop()
        found.add(kind.__name__.removesuffix("Serializer"))
        waiting += kind.__subclasses__()
    return {f"{prefix}{name}Request" for name in found for prefix in ("", "Patched")}
