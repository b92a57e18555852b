"""How a benchmark says what it found: a figure a line, or all as JSON."""

import json
from collections.abc import Mapping


def show(found: Mapping[str, float], as_json: bool) -> None:
    if as_json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:>24} {value:14,.3f}")
