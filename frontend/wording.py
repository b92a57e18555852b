"""Numbers and names of fields as words."""

from math import floor, log10
from typing import Any

TINY = 1e-6
SPELLED = {"l4t": "L4T", "jetpack": "JetPack", "pwm": "PWM", "iqr": "IQR"}
UNIT_WORDS = {"s": "s", "ms": "ms", "mw": "mW", "mj": "mJ", "c": "°C", "khz": "kHz", "pct": "%"}


def significant(value: float, digits: int = 3) -> str:
    """12.3456 -> '12.3', 4368 -> '4,368', 0.01234 -> '0.0123'; whole digits are never rounded away."""
    if not value:
        return "0"
    if abs(value) < TINY:
        return f"< {TINY:f}" if value > 0 else f"> −{TINY:f}"
    decimals = max(0, digits - 1 - floor(log10(abs(value))))
    return f"{value:,.{decimals}f}"


def in_words(name: str) -> str:
    """'time_iqr_ms' is 'time IQR, ms'."""
    *words, last = [SPELLED.get(word, word) for word in name.split("_")]
    if words and last in UNIT_WORDS:
        return f"{' '.join(words)}, {UNIT_WORDS[last]}"
    return " ".join([*words, last])


def plainly(value: Any) -> str:
    if isinstance(value, dict):
        return " · ".join(f"{in_words(name)} {plainly(each)}" for name, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(plainly, value))
    return briefly(value) if isinstance(value, float) else "—" if value is None else str(value)


def briefly(value: float) -> str:
    """To four digits, without the zeros that say nothing: 2.0 -> '2', 0.05 -> '0.05'."""
    text = significant(value, 4)
    return text.rstrip("0").rstrip(".") if "." in text else text
