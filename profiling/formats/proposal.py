"""What a table's columns seem to be, as proposed to the user in the mapping step."""

from dataclasses import dataclass, field
from typing import Any

from profiling.formats.columns import tells_apart
from profiling.formats.mapping import Column, Mapping

SURE = 0.8


@dataclass(frozen=True)
class Guess:
    """What one source column seems to be; field None: kept as it is."""

    column: str
    field: str | None
    unit: str | None
    confidence: float
    reason: str
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposal:
    guesses: tuple[Guess, ...]
    preview: tuple[tuple[str, ...], ...]
    questions: tuple[str, ...]
    missing: dict[str, str]
    decimal: str = "."
    which: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def certain(self) -> bool:
        """Nothing to ask: the mapping may be used unseen."""
        return not self.questions

    @property
    def mapping(self) -> Mapping:
        fields = {g.field: Column(g.column, g.unit or "") for g in self.guesses if g.field}
        taken = {column.column for column in fields.values()}
        apart = tuple(g.column for g in self.guesses if g.column not in taken and tells_apart(g.column))
        return Mapping(fields, {}, apart, self.decimal)

    def to_json(self) -> dict[str, Any]:
        return {
            "columns": [vars(guess) | {"samples": list(guess.samples)} for guess in self.guesses],
            "preview": [list(row) for row in self.preview],
            "questions": list(self.questions),
            "missing": self.missing,
            "which": {name: list(values) for name, values in self.which.items()},
            "mapping": self.mapping.to_json(),
            "certain": self.certain,
        }
