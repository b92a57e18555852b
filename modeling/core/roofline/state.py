"""Nested dataclasses of arrays as flat arrays plus a JSON card, and back: what artefacts are made of,
without pickle."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from modeling.core.prediction import FloatArray

Arrays = dict[str, np.ndarray]


def pack(thing: Any, name: str = "") -> tuple[Arrays, Any]:
    """Arrays by dotted name, and the rest as JSON-able values of the same nesting."""
    if isinstance(thing, np.ndarray):
        return {name: thing}, None
    if is_dataclass(thing):
        parts = {field.name: getattr(thing, field.name) for field in fields(thing)}
    elif isinstance(thing, tuple):
        parts = {str(place): part for place, part in enumerate(thing)}
    else:
        return {}, thing
    arrays: Arrays = {}
    card = {}
    for part, value in parts.items():
        more, card[part] = pack(value, f"{name}.{part}" if name else part)
        arrays |= more
    return arrays, card


def unpack(kind: Any, arrays: Mapping[str, np.ndarray], card: Any, name: str = "") -> Any:
    """The dataclass `kind` again from what `pack` gave; KeyError where a part is missing."""
    if kind in (FloatArray, np.ndarray) or get_origin(kind) is np.ndarray:
        return np.asarray(arrays[name])
    inner: dict[str, Any]
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        return tuple(unpack(item, arrays, card[key], f"{name}.{key}") for key in card)
    if not is_dataclass(kind):
        return card
    hints = get_type_hints(kind)
    inner = {
        field.name: unpack(
            hints[field.name], arrays, card[field.name], f"{name}.{field.name}" if name else field.name
        )
        for field in fields(kind)
    }
    return kind(**inner)  # type: ignore[operator]
