"""What a method learns from its references alone: kept by each worker, and the default method's for all of
them in the database, so that a fit need not wait for it."""

import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from modeling.core import roofline
from modeling.core.artefact import ArtefactError, load_parts, save_parts
from modeling.core.predictors.base import BasePredictor
from modeling.core.predictors.roofline import RooflinePredictor
from modeling.core.roofline.corpus import CorpusFit
from modeling.models import StoredCorpus
from modeling.selectors.references import Source, usual_corpus
from profiling.models import DeviceModel

logger = logging.getLogger(__name__)

KEPT = 8
STORED_EACH = 20

_kept: OrderedDict[str, Any] = OrderedDict()


def prepared(
    method: type[BasePredictor], sources: Sequence[Source], device_model: DeviceModel, seed: int
) -> Any:
    """The same until a measurement of a reference changes."""
    key = key_of(method, sources, seed)
    if key not in _kept:
        stores = method is RooflinePredictor and bool(sources)
        _kept[key] = _stored(key) if stores else None
        if _kept[key] is None:
            _kept[key] = method.prepare([each.measured for each in sources], seed)
            if stores:
                _store(key, _kept[key], device_model)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return _kept[key]


def corpora_refresh(*, device_model_id: int) -> int:
    """Learn ahead of the next fit from all that is well measured on the board; of how many kinds."""
    board, found = DeviceModel.objects.get(pk=device_model_id), 0
    for sources in usual_corpus(device_model=board):
        prepared(RooflinePredictor, sources, board, 0)
        found += 1
    return found


def key_of(method: type[BasePredictor], sources: Sequence[Source], seed: int) -> str:
    told = [
        [each.workload.slug, each.workload.kind, *each.device_model.maximum, each.table.digest]
        for each in sources
    ]
    return hashlib.sha256(json.dumps([_code(), method.method, seed, told]).encode()).hexdigest()


@cache
def _code() -> str:
    """Of the method itself: another version of it learns otherwise."""
    digest = hashlib.sha256()
    for path in sorted(Path(roofline.__path__[0]).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _stored(key: str) -> CorpusFit | None:
    found = StoredCorpus.objects.filter(key=key).values_list("tensors", flat=True).first()
    if found is None:
        return None
    try:
        return load_parts(CorpusFit, bytes(found))
    except ArtefactError as error:
        logger.warning("corpus %s: %s", key[:12], error)
        StoredCorpus.objects.filter(key=key).delete()
        return None


def _store(key: str, fitted: CorpusFit, device_model: DeviceModel) -> None:
    fields = {"device_model": device_model, "tensors": save_parts(fitted)}
    StoredCorpus.objects.get_or_create(key=key, defaults=fields)
    newest = StoredCorpus.objects.filter(device_model=device_model).order_by("-pk")
    StoredCorpus.objects.filter(pk__in=list(newest.values_list("pk", flat=True)[STORED_EACH:])).delete()
