import numpy as np
import pytest

from modeling.columns import ColumnsError, pack, prediction_of, unpack
from modeling.core.prediction import Prediction


def some(count: int = 100, sure: bool = True) -> Prediction:
    rng = np.random.default_rng(1)
    columns = [rng.lognormal(3, 1, count) for _ in range(4)]
    return Prediction(*columns[:2], *(columns[2:] if sure else (None, None)))


def test_what_is_packed_comes_back_within_float32():
    before = some()
    after = unpack(pack(before), ("a note",))
    for name in ("time_ms", "power_mw", "time_log_sd", "power_log_sd"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), rel=1e-6)
    assert after.notes == ("a note",)
    assert after.time_ms.dtype == np.float64


def test_an_unknown_uncertainty_stays_unknown():
    after = unpack(pack(some(sure=False)))
    assert after.time_log_sd is None
    assert after.power_log_sd is None


def test_29232_modes_take_well_under_a_megabyte():
    assert len(pack(some(29_232))) < 500_000


@pytest.mark.parametrize("data", [b"", b"rubbish", pack(some())[:200]])
def test_anything_else_is_refused(data):
    with pytest.raises(ColumnsError):
        unpack(data)


def test_objects_are_never_unpickled():
    import io

    buffer = io.BytesIO()
    np.savez(buffer, time_ms=np.array([{"a": 1}], dtype=object), power_mw=np.ones(1))
    with pytest.raises(ColumnsError):
        unpack(buffer.getvalue())


def test_a_process_unpacks_a_set_once(ready, django_assert_num_queries):
    key = ready.prediction_set.pk, ready.prediction_set.created
    first = prediction_of(*key)
    with django_assert_num_queries(0):
        assert prediction_of(*key) is first
