"""The mapping step: what the user is asked about a table's columns, and the answers as a mapping."""

from typing import Any

from django.http import QueryDict

from frontend.wording import TINY
from profiling.errors import InvalidInput
from profiling.knobs import KNOB_NAMES

KEEP, APART, OTHER = "", "apart", "other"


def mapping_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """What a column may be, grouped by quantity, each in each unit: the options of the mapping step."""
    # Here, since it brings pandas, which pages do without until somebody maps a file.
    from profiling.formats.columns import FIELDS

    groups = [
        (
            field.title,
            [
                (f"{field.name}:{unit}", f"{field.title}, {unit}" if unit else field.title)
                for unit in field.units
            ],
        )
        for field in FIELDS.values()
    ]
    others = [(KEEP, "kept as it is"), (APART, "tells equal modes apart")]
    return [("Something else", others), *groups]


def mapping_context(proposal: dict[str, Any]) -> dict[str, Any]:
    """What the mapping step shows besides the proposal. Only settings can hold for the whole file."""
    missing = proposal.get("missing", {})
    settings = {name: missing[name] for name in (*KNOB_NAMES, "minibatch") if name in missing}
    doubts, which = _doubts(proposal), proposal.get("which", {})
    # The proposal asks about doubtful columns first and about the rows last; both have forms of their own.
    questions = proposal.get("questions", [])
    others = questions[len(doubts) : len(questions) - len(which)]
    asked = {"doubts": doubts, "doubtful": {each["place"] for each in doubts}, "which": which}
    asked |= {"questions": others}
    return {"options": mapping_choices(), "missing": settings, **asked}


def _doubts(proposal: dict[str, Any]) -> list[dict[str, Any]]:
    """Columns whose quantity is known and whose unit is not sure: what its first value would be in each."""
    from profiling.formats.columns import FIELDS
    from profiling.formats.proposal import SURE

    decimal = (proposal.get("mapping") or {}).get("decimal", ".")
    return [
        {
            "place": place,
            "column": each["column"],
            "title": FIELDS[each["field"]].title,
            "reason": each["reason"],
            "choices": [
                (f"{each['field']}:{unit}", _reading(each, unit, decimal), unit == (each["unit"] or ""))
                for unit in FIELDS[each["field"]].units
            ],
        }
        for place, each in enumerate(proposal.get("columns", []))
        if each["field"] and each["confidence"] < SURE
    ]


def _reading(column: dict[str, Any], unit: str, decimal: str) -> str:
    """'in s: 0.118 is 118 ms'"""
    from profiling.formats.columns import FIELDS

    field, words = FIELDS[column["field"]], f"in {unit}" if unit else "it is"
    sample = next(iter(column["samples"]), "")
    try:
        value = float(sample.replace(decimal, ".")) * field.units[unit]
    except ValueError:
        return words
    shown = f"{value:,.6f}".rstrip("0").rstrip(".") if abs(value) >= TINY else f"less than {TINY:f}"
    return f"{words}: {sample} is {shown} {field.own_unit}".rstrip()


def mapping_of(columns: list[dict[str, Any]], data: QueryDict) -> dict[str, Any]:
    """The mapping in the shape of profiling.formats.Mapping, from the choices `column-0`, `column-1`, …"""
    if "interval_s" in data:
        return {"interval_s": _number("interval_s", str(data["interval_s"]))}
    chosen = {each["column"]: _choice(place, data) for place, each in enumerate(columns)}
    fields: dict[str, dict[str, str]] = {}
    for column, choice in chosen.items():
        name, _, unit = choice.partition(":")
        if name in fields:
            raise InvalidInput(
                f"Both {fields[name]['column']!r} and {column!r} are said to be {name}. Choose one."
            )
        if choice not in (KEEP, APART):
            fields[name] = {"column": column, "unit": unit}
    given = {key.removeprefix("constant-"): str(data[key]) for key in data if key.startswith("constant-")}
    return {
        "fields": fields,
        "constants": {name: _number(name, text) for name, text in given.items() if text.strip()},
        "apart": [column for column, choice in chosen.items() if choice == APART],
        "decimal": data.get("decimal", "."),
        "only": _only(columns, data),
    }


def _choice(place: int, data: QueryDict) -> str:
    choice = str(data.get(f"column-{place}", KEEP))
    return str(data.get(f"other-{place}", KEEP)) if choice == OTHER else choice


def _only(columns: list[dict[str, Any]], data: QueryDict) -> dict[str, str]:
    """column -> the one value whose rows are taken, of the choices `only-0`, `only-1`, …"""
    given = {each["column"]: str(data.get(f"only-{place}", "")) for place, each in enumerate(columns)}
    return {column: value for column, value in given.items() if value.strip()}


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InvalidInput(f"{name} {text!r} is not a number.") from error
