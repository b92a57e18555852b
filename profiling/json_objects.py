"""JSON read more strictly than Python reads it."""

from typing import Any


def no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its pairs: of a field named twice one value would be lost without a word. ValueError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"an object names {', '.join(map(repr, doubled))} twice")
    return found
