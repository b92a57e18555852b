import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from profiling.telemetry import TelemetryError, pack, thinned, unpack


def test_what_goes_in_comes_out():
    columns = {
        "time_s": [0.0, 0.1, 0.25],
        "power_vdd_in_mw": [5000, None, 5008],
        "governor": ["a", "a", None],
    }
    chunk = pack(columns)
    back = unpack(chunk.parquet)
    assert back["time_s"].tolist() == pytest.approx([0.0, 0.1, 0.25])
    assert back["power_vdd_in_mw"][[0, 2]].tolist() == [5000, 5008]
    assert np.isnan(back["power_vdd_in_mw"][1])
    assert back["governor"] == ["a", "a", None]
    assert (chunk.rows, chunk.start_s, chunk.end_s) == (3, 0.0, 0.25)


@given(arrays(float, st.integers(1, 50), elements=st.floats(-1e9, 1e9)))
def test_nothing_is_lost_beyond_a_hundredth(values):
    back = unpack(pack({"time_s": np.arange(len(values)), "x": values}).parquet)
    assert np.allclose(back["x"], values, atol=0.0051, rtol=1e-9)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1]}, "needs a column time_s"),
        ({"time_s": []}, "at least one row"),
        ({"time_s": [0, 1], "x": [1]}, "differ in length"),
        ({"time_s": [1, 0]}, "never go back"),
        ({"time_s": [0, 1], "x": [1, float("inf")]}, "x holds an infinite value"),
        ({"time_s": [0, 1], "x": [1, {}]}, "x holds something else than numbers"),
        ({"time_s": [0, 1], "x": [[1], [2]]}, "x holds lists"),
    ],
)
def test_bad_columns_are_named(columns, words):
    with pytest.raises(TelemetryError, match=words):
        pack(columns)


def test_an_hour_at_10_hz_takes_at_most_three_bytes_a_value():
    rng = np.random.default_rng(0)
    n, channels = 36_000, 29
    walk = {f"power_{k}_mw": 20_000 + 8 * np.cumsum(rng.integers(-9, 10, n)) for k in range(channels)}
    chunk = pack({"time_s": np.arange(n) / 10 + rng.normal(0, 1e-3, n).cumsum().clip(0), **walk})
    assert len(chunk.parquet) / (n * (channels + 1)) < 3


def test_thinning_keeps_every_peak():
    time_s = np.arange(100_000.0)
    values = np.zeros(100_000)
    values[54_321] = 9.0
    kept_time, kept = thinned(time_s, values)
    assert len(kept) <= 2000
    assert kept_time[np.argmax(kept)] == 54_321


def test_an_unknown_sample_hides_no_valley():
    values = np.full(10_000, 50.0)
    values[[100, 7_777]] = np.nan, 40.0
    _, kept = thinned(np.arange(10_000.0), values)
    assert np.nanmin(kept) == 40


@given(st.integers(1, 3_000), st.integers(2, 50))
def test_thinning_keeps_order_extremes_and_the_limit(count, points):
    values = np.random.default_rng(count).normal(size=count)
    time_s, kept = thinned(np.arange(count, dtype=float), values, points)
    assert len(kept) <= max(points, 1)
    assert np.all(np.diff(time_s) > 0)
    assert {values.min(), values.max()} <= set(kept)
