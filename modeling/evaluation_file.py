"""The file that `evaluate --json` writes, read and checked before anything is kept."""

import json
from math import isfinite
from typing import Any

from modeling.serializers_evaluations import EvaluationResultSerializer
from profiling.errors import InvalidInput

MOST_RESULTS = 1000
MOST_BYTES = 4 * 2**20
NOT_A_REPORT = "This is not what `evaluate --json` prints: a JSON object with a list of results."


def results_in(content: bytes) -> list[dict[str, Any]]:
    """The results of a report; InvalidInput that lists every figure that cannot be."""
    checked = EvaluationResultSerializer(data=_listed(content), many=True, allow_empty=False)
    if checked.is_valid():
        return checked.validated_data
    said = [
        f"result {place + 1}, {_words(fault)}"
        for place, fault in checked.errors.items()
        if isinstance(place, int)
    ]
    raise InvalidInput(" ".join([NOT_A_REPORT, *said[:20]]))


def _listed(content: bytes) -> list[Any]:
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"A report has at most {MOST_BYTES // 2**20} MiB; this one is larger.")
    try:
        sent = json.loads(content, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{NOT_A_REPORT} {error}") from error
    results = sent.get("results") if isinstance(sent, dict) else None
    if not isinstance(results, list) or len(results) > MOST_RESULTS:
        raise InvalidInput(f"{NOT_A_REPORT} At most {MOST_RESULTS}.")
    return results


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no figure.")


def _finite(digits: str) -> float:
    """JSON may spell numbers that no float holds."""
    return float(digits) if isfinite(float(digits)) else _no_number(digits[:20])


def _words(fault: Any) -> str:
    if isinstance(fault, list):
        return str(fault[0])
    return "; ".join(f"{name}: {_words(each)}" for name, each in fault.items())
