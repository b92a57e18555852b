"""What the user says about a table: which column is which quantity, in which unit."""

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from profiling.errors import InvalidInput
from profiling.formats.columns import FIELDS, OUTCOMES


class Column(NamedTuple):
    column: str
    unit: str


@dataclass(frozen=True)
class Mapping:
    """Field → source column and unit; constants for fields the file leaves out, in the field's own unit.

    apart: further columns that tell rows of the same mode apart (network, repeat, concurrency…).
    only: column → value; other rows are passed over (one network of many). decimal: "." or ",".
    """

    fields: dict[str, Column]
    constants: dict[str, float] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    decimal: str = "."
    only: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "fields": {name: column._asdict() for name, column in self.fields.items()},
            "constants": dict(self.constants),
            "apart": list(self.apart),
            "decimal": self.decimal,
            "only": dict(self.only),
        }

    @classmethod
    def from_json(cls, given: Any) -> "Mapping":
        """InvalidInput listing everything that is wrong with it."""
        if not isinstance(given, AnyMapping) or not isinstance(given.get("fields"), AnyMapping):
            raise InvalidInput(
                'a mapping looks like {"fields": {"cpu_khz": {"column": "cpu", "unit": "kHz"}}}'
            )
        fields = {str(name): _column(name, column) for name, column in given["fields"].items()}
        constants, apart = given.get("constants") or {}, given.get("apart") or ()
        if not isinstance(constants, AnyMapping) or not all(
            isinstance(v, int | float) for v in constants.values()
        ):
            raise InvalidInput('constants look like {"cores": 12}')
        only = given.get("only") or {}
        if not isinstance(only, AnyMapping):
            raise InvalidInput('only looks like {"network": "resnet"}')
        if not isinstance(apart, list | tuple):
            raise InvalidInput('apart is a list of column names, such as ["network"]')
        mapping = cls(
            fields,
            {str(name): float(value) for name, value in constants.items()},
            tuple(map(str, apart)),
            str(given.get("decimal", ".")),
            {str(name): str(value) for name, value in only.items()},
        )
        mapping.check()
        return mapping

    def check(self, header: tuple[str, ...] | None = None) -> None:
        """InvalidInput listing everything wrong with it, also against the file's columns when given."""
        if errors := [*self._own_errors(), *(self._errors_against(header) if header is not None else ())]:
            raise InvalidInput(f"the column mapping does not fit: {'; '.join(errors)}", errors=errors)

    def _own_errors(self) -> list[str]:
        names = [*self.fields, *self.constants]
        columns = [column.column for column in self.fields.values()]
        errors = [
            f"{name} is no field; fields are {', '.join(FIELDS)}" for name in names if name not in FIELDS
        ]
        errors += [
            f"{name} cannot be in {column.unit!r}; its units are {', '.join(FIELDS[name].units)}"
            for name, column in self.fields.items()
            if name in FIELDS and column.unit not in FIELDS[name].units
        ]
        errors += [
            f"{name} is both a column and a constant" for name in self.constants if name in self.fields
        ]
        errors += [
            f"constant {name} must be above 0" for name, value in self.constants.items() if not value > 0
        ]
        errors += [
            f"column {name!r} is used twice" for name in sorted(set(columns)) if columns.count(name) > 1
        ]
        if not any(name in OUTCOMES for name in self.fields):
            errors.append(
                f"no column is mapped to any of {', '.join(OUTCOMES)}, so nothing measured would come in"
            )
        if outcomes := [name for name in self.constants if name in OUTCOMES]:
            errors.append(f"{', '.join(outcomes)} was measured, so it cannot be a constant")
        if self.decimal not in (".", ","):
            errors.append(f"decimal must be . or , and not {self.decimal!r}")
        return errors

    def _errors_against(self, header: tuple[str, ...]) -> list[str]:
        wanted = [*(column.column for column in self.fields.values()), *self.apart, *self.only]
        return [f"the file has no column {name!r}" for name in wanted if name not in header]


def _column(name: object, given: Any) -> Column:
    if not isinstance(given, AnyMapping) or not isinstance(given.get("column"), str):
        raise InvalidInput(f'{name} must be given as {{"column": name, "unit": unit}}')
    known = FIELDS.get(str(name))
    return Column(given["column"], str(given.get("unit") or (known.own_unit if known else "")))
