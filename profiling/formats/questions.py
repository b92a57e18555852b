"""What must be asked about a table before its columns may be used."""

from profiling.formats.columns import FIELDS, KNOBS, OUTCOMES, recognise, stated_unit, words
from profiling.formats.proposal import SURE, Guess


def which_questions(which: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(
        f"{name!r} holds {', '.join(values[:8])}{' …' if len(values) > 8 else ''}: which is this upload of? "
        f"Left open, all lines are taken."
        for name, values in which.items()
    )


def questions_of(
    guesses: list[Guess], missing: dict[str, str], settled: set[str], decimal: str
) -> tuple[str, ...]:
    questions = [
        f"Is {g.column!r} the {FIELDS[g.field].title} in {g.unit or 'plain numbers'}? {g.reason}."
        for g in guesses
        if g.field and g.confidence < SURE
    ]
    questions += [
        f"Which column holds the {FIELDS[name].title}, or what was it throughout? Left open, it is unknown."
        for name in KNOBS
        if name in missing and name not in settled
    ]
    if all(name in missing for name in OUTCOMES):
        questions.append("Which column holds the measured time or power? Nothing can be imported without.")
    else:
        questions += _overlooked(guesses, missing, settled)
    if decimal == ",":
        questions.append(
            "Are the commas in the numbers decimal commas? If they part thousands, write the numbers without."
        )
    return tuple(questions)


def _overlooked(guesses: list[Guess], missing: dict[str, str], settled: set[str]) -> list[str]:
    """Of a time or a power nobody claims: columns in its units, or called like it without a number."""
    wanted = [name for name in ("time_ms", "power_mw") if name in missing and name not in settled]
    if "throughput_per_s" not in missing:
        wanted = [name for name in wanted if name != "time_ms"]
    could = {
        name: [g.column for g in guesses if g.field is None and _could_be(g.column, name)] for name in wanted
    }
    return [
        f"Which column holds the {FIELDS[name].title}? {', '.join(map(repr, columns))} could. "
        f"Left open, it is unknown."
        for name, columns in could.items()
        if columns
    ]


def _could_be(column: str, name: str) -> bool:
    if (called := recognise(column)) and called.field.name == name:
        return True
    unit = stated_unit(words(column))
    return unit in FIELDS[name].units and unit != "min"  # which mostly means the least
