import json
from collections.abc import Mapping
from math import isinf
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from profiling.errors import TooLarge
from profiling.json_objects import no_doubles

JSON_MAX_BYTES = 32 * 2**20


class BoundedJSONParser(BaseParser):
    """DRF reads a JSON body of any depth; this one refuses what would fill memory or the stack, and what JSON
    can spell but neither a database nor an answer can hold.

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
            return _loaded(body) if size else {}
        except ValueError as error:
            raise ParseError(f"The body is no JSON: {error}") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deeply.") from error


def _loaded(body: bytes) -> Any:
    text = body.decode(json.detect_encoding(body))  # json's own decoding lets surrogates pass
    found = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=no_doubles)
    if "\\u" in text:
        _check_texts(found)
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON; unknown is null")


def _finite(digits: str) -> float:
    if isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _check_texts(value: Any) -> None:
    """Of what can only be spelled with a backslash: NUL, and half a surrogate pair."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text holds NUL")
        value.encode()
    elif isinstance(value, dict):
        _check_texts([*value, *value.values()])
    elif isinstance(value, list):
        for each in value:
            _check_texts(each)
