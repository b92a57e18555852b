import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from profiling.errors import TooLarge

JSON_MAX_BYTES = 32 * 2**20


class BoundedJSONParser(JSONParser):
    """DRF reads a JSON body of any size and depth; this one refuses what would fill memory or the stack."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        if (size := len(body := stream.read(JSON_MAX_BYTES + 1))) > JSON_MAX_BYTES:
            raise TooLarge(f"A JSON body may have {JSON_MAX_BYTES:,} bytes; this one has more.")
        try:
            return json.loads(body, parse_constant=_refuse) if size else {}
        except ValueError as error:
            raise ParseError(f"The body is no JSON: {error}") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deeply.") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON; unknown is null")
