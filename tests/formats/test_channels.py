import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from profiling.formats import channels, csv_rows, read
from profiling.formats.channels import Channels
from profiling.formats.problems import FileTooLarge, Limits

NUMBERS = hnp.arrays(np.float64, st.integers(1, 9), elements=st.floats(allow_infinity=False))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(channels, "ROWS_A_BLOCK", 5)


def gathered(pieces):
    found = Channels()
    for piece in pieces:
        found.add(len(piece), {"n": piece})
    return found


@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_it_gives_back_the_very_numbers(pieces):
    np.testing.assert_array_equal(gathered(pieces)["n"], np.concatenate(pieces))


@given(st.lists(NUMBERS, min_size=1, max_size=6), st.data())
def test_what_is_kept_is_kept_in_order(pieces, data):
    whole = np.concatenate(pieces)
    keep = data.draw(hnp.arrays(bool, len(whole)))
    kept = gathered(pieces).where(keep)
    np.testing.assert_array_equal(kept["n"], whole[keep])
    np.testing.assert_array_equal(np.concatenate([block["n"] for block in kept.blocks()]), whole[keep])


def test_what_some_rows_lack_is_unknown_there():
    found = Channels({"a": np.arange(6.0)})
    found.add(2, {"b": pa.array(["x", None], pa.string())})
    assert list(found) == ["a", "b"]
    assert np.isnan(found["a"]).tolist() == [False] * 6 + [True] * 2
    assert found["b"].to_pylist() == [None] * 6 + ["x", None]
    assert "c" not in found


def test_numbers_among_words_become_words():
    found = Channels({"a": np.array([1.5, np.nan] * 3)})
    found.add(1, {"a": pa.array(["off"])})
    assert found["a"].to_pylist() == ["1.5", None] * 3 + ["off"]


def test_one_put_later_stands_first():
    found = Channels({"a": np.arange(7.0)})
    found.put("time_s", np.arange(7) / 10)
    assert list(found) == ["time_s", "a"]
    assert found["time_s"].tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_a_log_of_many_blocks_says_what_its_lines_say(write, monkeypatch):
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 500)
    rows = [
        f"2026-01-02 03:{place // 60:02}:{place % 60:02}.250,{'ON' if place % 3 else ''},{place}.25"
        for place in range(300)
    ]
    log = read(write("jtop.csv", "\n".join(["time,jetson_clocks,Temp cpu", *rows, ""])))
    assert log.columns["time_s"].tolist() == list(range(300))
    assert log.columns["temp_cpu_c"].tolist() == [place + 0.25 for place in range(300)]
    assert log.columns["jetson_clocks"].to_pylist() == ["ON" if place % 3 else None for place in range(300)]


def test_a_log_too_wide_and_long_to_be_held_is_refused(write):
    path = write("jtop.csv", "time,uptime,CPU1\n" + "2026-01-02 03:04:05,1,2\n" * 20)
    with pytest.raises(FileTooLarge, match="split it"):
        read(path, limits=Limits(log_cells=30))
