"""A Prediction as bytes for the database, and back: named float32 columns, no pickle."""

import io
import zipfile
from datetime import datetime
from functools import lru_cache

import numpy as np

from modeling.core.prediction import Prediction
from modeling.models import PredictionSet

ALWAYS = ("time_ms", "power_mw")
WHERE_KNOWN = ("time_log_sd", "power_log_sd")


class ColumnsError(ValueError):
    """The bytes are no packed prediction."""


def pack(prediction: Prediction) -> bytes:
    """Columns the method knows; a missing standard deviation stays missing. Notes belong on the card."""
    columns = {name: getattr(prediction, name) for name in ALWAYS + WHERE_KNOWN}
    known = {name: np.asarray(column, np.float32) for name, column in columns.items() if column is not None}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **known)
    return buffer.getvalue()


def unpack(data: bytes, notes: tuple[str, ...] = ()) -> Prediction:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            columns = {name: found[name].astype(np.float64) for name in found.files}
        return Prediction(**columns, notes=notes)
    except (ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise ColumnsError(f"not a packed prediction: {error}") from error


@lru_cache(maxsize=16)
def prediction_of(prediction_set_id: int, created: datetime) -> Prediction:
    """Unpacked once a process: a PredictionSet's columns never change, a new fit makes a new one."""
    fields = ("columns", "predictor__card")
    columns, card = PredictionSet.objects.values_list(*fields).get(pk=prediction_set_id)
    return unpack(bytes(columns), tuple(card.get("notes", ())))
