"""Whatever the bytes, a reader answers with rows or with a FormatError."""

import gzip
import io
import json

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiling.errors import InvalidInput
from profiling.formats import Column, Limits, Mapping, read

MAPPING = Mapping({"time_ms": Column("time_ms", "ms"), "cores": Column("cores", "")})
QUICK = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def read_or_refuse(path, content: bytes, mapping=None):
    path.write_bytes(content)
    try:
        return read(path, mapping=mapping, limits=Limits(in_memory_bytes=1 << 22))
    except InvalidInput:
        return None


@pytest.fixture
def path(tmp_path):
    return tmp_path / "upload"


@QUICK
@given(content=st.binary(max_size=300))
def test_any_bytes(path, content):
    read_or_refuse(path, content)


NAMES = st.sampled_from(["cores", "time_ms", "a"])
CELLS = st.sampled_from(
    ["1", "2.5", "-3", "nan", "", "1e999", "1,5", '"', '"x"', "é", "\0", "x", "\r", " 7 ", "+4"]
)


@QUICK
@given(rows=st.lists(st.lists(CELLS, max_size=4), max_size=12), ends=st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_csv_rows_are_either_good_or_reported(path, rows, ends):
    text = "cores,time_ms" + ends + "".join(",".join(row) + ends for row in rows)
    parsed = read_or_refuse(path, text.encode(), MAPPING)
    assert parsed is None or (parsed.rows.time_ms.dropna() > 0).all()


@QUICK
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["cores", "time_ms", "a"]), inner)
        ),
        max_leaves=12,
    )
)
def test_any_json(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    read_or_refuse(path, json.dumps(value).encode(), MAPPING)
    read_or_refuse(path, json.dumps(value).encode())


def samples() -> dict[str, bytes]:
    frame = pd.DataFrame({"cores": [2, 4], "time_ms": [1.5, 2.5], "note": ["a", "b"]})
    excel, parquet = io.BytesIO(), io.BytesIO()
    frame.to_excel(excel, index=False)
    frame.to_parquet(parquet)
    return {
        "excel": excel.getvalue(),
        "parquet": parquet.getvalue(),
        "gzip": gzip.compress(frame.to_csv(index=False).encode()),
        "jsonl": frame.to_json(orient="records", lines=True).encode(),
    }


SAMPLES = samples()


@pytest.mark.parametrize("name", SAMPLES)
@QUICK
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255), cut=st.booleans())
def test_any_damage_to_a_good_file(path, name, place, byte, cut):
    content = bytearray(SAMPLES[name])
    at = int(place * len(content))
    content[at] = byte
    read_or_refuse(path, bytes(content[:at] if cut else content), MAPPING)
