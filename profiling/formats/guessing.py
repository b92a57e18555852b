"""A proposal for the mapping step: what each column seems to hold, by its name and values, and how surely."""

from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from profiling.formats.agreement import far_apart
from profiling.formats.batches import Batch, Rows, as_text
from profiling.formats.checks import DECIMAL_COMMA, DECIMAL_POINT, THOUSANDS, FloatArray, to_numbers
from profiling.formats.columns import CLOCKS, FIELDS, NO_UNIT, Field, is_of_one, recognise
from profiling.formats.plausible import Hints, fitting_units, is_clock, legal_unit
from profiling.formats.proposal import SURE, Guess, Proposal
from profiling.formats.questions import questions_of, which_questions

PREVIEW_ROWS = 5
SAMPLED_ROWS = 20_000
# The public PowerTrain tables name no units; they are ms and W.
DREAMLAB_HEADER = {"cores", "cpu", "gpu", "mem", "observed_time", "observed_power"}
DREAMLAB_UNITS = {"observed_time": "ms", "observed_power": "W"}


def propose(rows: Rows, sample: Batch, hints: Hints) -> Proposal:
    header = rows.header
    texts = {name: _texts(sample, name) for name in header}
    decimal = _decimal(texts)
    numbers = {name: _numbers(sample, name, decimal) for name in header}
    by_name = [_by_name(name, numbers[name], hints) for name in header]
    if set(header) >= DREAMLAB_HEADER:
        by_name = [_by_convention(guess, numbers[guess.column], hints) for guess in by_name]
    guesses = _one_column_a_field(_settled(by_name, rows))
    far = _far_apart(guesses, numbers, hints)
    guesses = _by_values(_time_before_rate(guesses), numbers, hints)
    guesses = [replace(guess, samples=tuple(texts[guess.column][:PREVIEW_ROWS])) for guess in guesses]
    preview = tuple(zip(*(texts[name][:PREVIEW_ROWS] for name in header), strict=True))
    missing = _missing({guess.field for guess in guesses}) | rows.missing
    which = _which(header, sample)
    questions = questions_of(guesses, missing, set(rows.missing), decimal) + far + which_questions(which)
    return Proposal(tuple(guesses), preview, questions, missing, decimal, which)


def _settled(guesses: list[Guess], rows: Rows) -> list[Guess]:
    """What the format itself knows goes before any guess."""
    fields = {column.column: (name, column.unit) for name, column in rows.known.items()}
    taken = {*rows.known, *rows.missing}
    return [
        Guess(guess.column, *fields[guess.column], 1.0, "by the custom of this format")
        if guess.column in fields
        else Guess(guess.column, None, None, 1.0, "kept as it is")
        if guess.field in taken
        else guess
        for guess in guesses
    ]


def _which(header: tuple[str, ...], sample: Batch) -> dict[str, tuple[str, ...]]:
    """An upload is of one workload on one board; of a table of several: column -> its values."""
    several = {name: _distinct(sample, name) for name in header if is_of_one(name)}
    return {name: tuple(values) for name, values in several.items() if len(values) > 1}


def _distinct(sample: Batch, name: str) -> list[str]:
    cells = sample.columns.get(name)
    return [] if cells is None else pc.unique(as_text(cells)).to_pylist()[:1000]


def _texts(sample: Batch, name: str) -> list[str]:
    cells = sample.columns.get(name)
    return [] if cells is None else as_text(cells[:200]).to_pylist()


def _numbers(sample: Batch, name: str, decimal: str) -> FloatArray:
    cells = sample.columns.get(name)
    if cells is None:
        return np.zeros(0)
    values = to_numbers(cells[:SAMPLED_ROWS], decimal).values
    return values[np.isfinite(values) & (values > 0)]


def _decimal(texts: dict[str, list[str]]) -> str:
    cells = [text.strip() for column in texts.values() for text in column]
    with_comma = any(DECIMAL_COMMA.fullmatch(text) for text in cells)
    with_point = any(DECIMAL_POINT.fullmatch(text) and not THOUSANDS.fullmatch(text) for text in cells)
    return "," if with_comma and not with_point else "."


def _by_name(name: str, values: FloatArray, hints: Hints) -> Guess:
    recognised = recognise(name)
    if recognised is None:
        return Guess(name, None, None, 1.0, "kept as it is")
    field, unit = recognised
    if not len(values):
        return _without_numbers(name, field, unit)
    if field.units is NO_UNIT:
        return _without_unit(name, field, values)
    fitting = fitting_units(field, values, hints)
    if unit in fitting:
        return Guess(name, field.name, unit, 1.0, f"its name says {field.title} in {unit}")
    if unit:
        return _contradicted(name, field, unit, fitting, values)
    return _unit_guessed(name, field, fitting)


def _without_numbers(name: str, field: Field, unit: str | None) -> Guess:
    if unit is None and field.units is not NO_UNIT:  # such as a column `time` full of dates
        return Guess(name, None, None, 1.0, f"called like the {field.title}, but holds no number")
    return Guess(name, field.name, unit or "", 0.9, "its name says so, but no number is in sight")


def _without_unit(name: str, field: Field, values: FloatArray) -> Guess:
    if field.whole and np.any(values != np.round(values)):
        return Guess(name, field.name, "", 0.3, f"called like the {field.title}, but not whole numbers")
    return Guess(name, field.name, "", 1.0, f"its name says {field.title}")


def _contradicted(name: str, field: Field, unit: str, fitting: list[str], values: FloatArray) -> Guess:
    if not fitting and field.name in CLOCKS and is_clock(values, field, unit):
        reason = f"its name says {field.title} in {unit}, though few of its values are legal steps"
        return Guess(name, field.name, unit, 0.9, reason)
    if not fitting:
        reason = f"its name says {field.title} in {unit}, but its values are not plausible so"
        return Guess(name, field.name, unit, 0.3, reason)
    reason = f"its name says {unit}, but its values are plausible only in {' or '.join(fitting)}"
    return Guess(name, field.name, fitting[0], 0.4, reason)


def _unit_guessed(name: str, field: Field, fitting: list[str]) -> Guess:
    if not fitting:
        reason = f"called like the {field.title}, but its values are plausible in no unit"
        return Guess(name, field.name, field.own_unit, 0.2, reason)
    if len(fitting) == 1:
        reason = f"its name says {field.title}; its values are plausible only in {fitting[0]}"
        return Guess(name, field.name, fitting[0], 0.9, reason)
    unit = field.own_unit if field.own_unit in fitting else fitting[0]
    reason = f"its name says {field.title}; the unit could be {' or '.join(fitting)}"
    return Guess(name, field.name, unit, 0.5, reason)


def _by_convention(guess: Guess, values: FloatArray, hints: Hints) -> Guess:
    unit = DREAMLAB_UNITS.get(guess.column)
    if unit is None or not len(values):
        return guess
    field = FIELDS[guess.field or ""]
    if unit not in fitting_units(field, values, hints):
        return replace(guess, confidence=0.4)
    reason = f"{field.title} in {unit}, by the custom of PowerTrain's tables"
    return replace(guess, unit=unit, confidence=1.0, reason=reason)


def _one_column_a_field(guesses: list[Guess]) -> list[Guess]:
    """The surest column keeps the field; an equally sure rival makes both doubtful."""
    result = list(guesses)
    for name in FIELDS:
        rivals = [place for place, guess in enumerate(result) if guess.field == name]
        rivals.sort(key=lambda place: -result[place].confidence)
        if len(rivals) < 2:
            continue
        best, second = result[rivals[0]], result[rivals[1]]
        if second.confidence >= SURE or best.confidence < SURE:
            reason = f"{best.reason}; but {second.column!r} could be it too"
            result[rivals[0]] = replace(best, confidence=min(best.confidence, 0.5), reason=reason)
        for place in rivals[1:]:
            reason = f"kept as it is: {best.column!r} seems to be the {FIELDS[name].title}"
            result[place] = Guess(result[place].column, None, None, 1.0, reason)
    return result


def _time_before_rate(guesses: list[Guess]) -> list[Guess]:
    """Samples per second are taken for the time they tell; beside a time they would be lost in it."""
    if not any(guess.field == "time_ms" and guess.confidence >= SURE for guess in guesses):
        return guesses
    reason = "kept as it is: the time is given"
    return [
        replace(guess, field=None, unit=None, confidence=1.0, reason=reason)
        if guess.field == "throughput_per_s"
        else guess
        for guess in guesses
    ]


def _far_apart(guesses: list[Guess], numbers: dict[str, FloatArray], hints: Hints) -> tuple[str, ...]:
    """Questions about a rate or an energy that is tenfold, or a tenth, of what the other columns make."""
    claimed = {guess.field: guess for guess in guesses if guess.field and len(numbers[guess.column])}
    medians = {
        name: float(np.median(numbers[guess.column])) * FIELDS[name].factor(guess.unit or "")
        for name, guess in claimed.items()
    }
    found = far_apart(medians, hints.minibatch)
    return tuple(f"{claimed[name].column!r} {question}" for name, question in found)


def _by_values(guesses: list[Guess], numbers: dict[str, FloatArray], hints: Hints) -> list[Guess]:
    """Columns of unknown name that hold nothing but legal clocks of a knob nobody claims."""
    result = list(guesses)
    for name in CLOCKS:
        if any(guess.field == name for guess in result) or not hints.steps(name):
            continue
        for place, guess in enumerate(result):
            unit = None if guess.field else legal_unit(FIELDS[name], numbers[guess.column], hints)
            if unit:
                reason = f"all its values are legal steps of the {FIELDS[name].title} in {unit}"
                result[place] = Guess(guess.column, name, unit, 0.6, reason)
                break
    return result


def _missing(found: set[str | None]) -> dict[str, str]:
    return {
        name: f"the file has no column for the {FIELDS[name].title}" for name in FIELDS if name not in found
    }
