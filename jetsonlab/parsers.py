import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from profiling.errors import TooLarge

JSON_MAX_BYTES = 32 * 2**20


class BoundedJSONParser(BaseParser):
    """DRF reads a JSON body of any depth; this one refuses what would fill memory or the stack.

    No JSONParser by birth: to one of those DRF hands the body only if it fits DATA_UPLOAD_MAX_MEMORY_SIZE, a
    form's 2.5 MB, which an hour of telemetry does not.
    """

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        if (size := len(body := stream.read(JSON_MAX_BYTES + 1))) > JSON_MAX_BYTES:
            raise TooLarge(f"A JSON body may have {JSON_MAX_BYTES:,} bytes; this one has more.")
        try:
            return json.loads(body, parse_constant=_refuse, object_pairs_hook=_no_doubles) if size else {}
        except ValueError as error:
            raise ParseError(f"The body is no JSON: {error}") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deeply.") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON; unknown is null")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a field named twice one value would be lost without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"an object names {', '.join(map(repr, doubled))} twice")
    return found
