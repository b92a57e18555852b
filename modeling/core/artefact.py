"""Fitted predictors as bytes and back: tensors and a JSON card in a safetensors file, never pickle."""

import json
import struct
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from modeling.core.predictors import METHODS, predictor_class
from modeling.core.predictors.base import BasePredictor
from modeling.core.roofline.state import pack, unpack

FORMAT = 1
HEADER_LENGTH = struct.Struct("<Q")

T = TypeVar("T")


class ArtefactError(ValueError):
    """The bytes are no artefact of this program."""


def save(predictor: BasePredictor, **card: Any) -> bytes:
    """A fitted predictor as bytes.

    card: further JSON-able facts to keep beside what the predictor states itself (rows, metrics, versions).
    """
    tensors, own = predictor.to_state()
    text = json.dumps({**card, **own, "format": FORMAT})
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return save_tensors(arrays, metadata={"card": text})


def load(data: bytes) -> BasePredictor:
    """The predictor saved; it predicts the same. ArtefactError where the bytes are anything else."""
    card = read_card(data)
    try:
        return predictor_class(card["method"]).from_state(load_tensors(data), card)
    except (SafetensorError, KeyError) as error:
        raise ArtefactError(f"damaged predictor artefact: {error}") from error


def save_parts(thing: Any) -> bytes:
    """A nested dataclass of arrays, such as a CorpusFit, as bytes."""
    arrays, card = pack(thing)
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save_tensors(tensors, metadata={"card": json.dumps({"format": FORMAT, "parts": card})})


def load_parts(kind: type[T], data: bytes) -> T:
    """The dataclass `kind` saved by `save_parts`. ArtefactError where the bytes are anything else."""
    try:
        return unpack(kind, load_tensors(data), _header(data)["parts"])
    except (SafetensorError, struct.error, ValueError, KeyError, TypeError) as error:
        raise ArtefactError(f"not a stored {kind.__name__}: {error}") from error


def _header(data: bytes) -> dict[str, Any]:
    (length,) = HEADER_LENGTH.unpack_from(data)
    header = json.loads(data[HEADER_LENGTH.size : HEADER_LENGTH.size + length])
    return json.loads(header["__metadata__"]["card"])


def read_card(data: bytes) -> dict[str, Any]:
    """The JSON card of an artefact, read from its header alone."""
    try:
        card = _header(data)
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise ArtefactError(f"not a predictor artefact: {error}") from error
    if card.get("format") != FORMAT or card.get("method") not in METHODS:
        raise ArtefactError(f"artefact of format {card.get('format')} by {card.get('method')}: fit it again")
    return card
