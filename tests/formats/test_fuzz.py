"""Whatever the bytes, a reader answers with rows or with a FormatError."""

import gzip
import io
import json
import zipfile

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiling.errors import InvalidInput
from profiling.formats import Column, Limits, Mapping, read

MAPPING = Mapping({"time_ms": Column("time_ms", "ms"), "cores": Column("cores", "")})
QUICK = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
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
    excel, parquet, packed = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", frame.to_csv(index=False))
    frame.to_excel(excel, index=False)
    frame.to_parquet(parquet)
    return {
        "excel": excel.getvalue(),
        "parquet": parquet.getvalue(),
        "gzip": gzip.compress(frame.to_csv(index=False).encode()),
        "zip": packed.getvalue(),
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


PIECES = st.sampled_from(
    [
        "RAM 1/2MB (lfb 1x4MB)",
        "CPU [1%@2,off]",
        "CPU [",
        "GR3D_FREQ 3%@[1,]",
        "GR3D_FREQ @[]",
        "EMC_FREQ 9%",
        "a@-256C",
        "VDD 1mW/2mW",
        "VDD 1/",
        "99-99-2024 25:00:00",
        "NVENC off",
        "MTS fg 1% bg",
        "\x00",
        "é",
        "IRAM 0/1kB(lfb 1kB)",
        "SWAP 1/2MB",
        "gpu@1C/2C",
    ]
)


@QUICK
@given(lines=st.lists(st.lists(PIECES, max_size=6), min_size=1, max_size=6))
def test_any_tegrastats_line_is_either_read_or_reported(path, lines):
    text = "\n".join(" ".join(line) for line in lines)
    log = read_or_refuse(path, f"GR3D_FREQ 1%\n{text}".encode())
    assert log is None or len(log) + log.problem_count + len(log.notes) >= 1


JTOP_CELLS = st.sampled_from(["2026-01-02 03:04:05", "1", "OFF", "-256", "nan", "", "x", '"', "\0"])


@QUICK
@given(rows=st.lists(st.lists(JTOP_CELLS, min_size=3, max_size=4), max_size=8))
def test_any_jtop_row_is_either_read_or_reported(path, rows):
    text = "time,uptime,Temp cpu,power cur\n" + "\n".join(",".join(row) for row in rows)
    read_or_refuse(path, text.encode())


@QUICK
@given(
    epoch=st.text('0123456789.,\n"xepochtime_ms_log_time', max_size=80),
    jtop=st.text('0123456789.,\n"-: ', max_size=80),
    flip=st.integers(0, 10_000),
)
def test_any_zip_of_runs(path, epoch, jtop, flip):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pm_2_3_4_5/n_epoch_stats.csv", f"epochtime_ms,log_time\n1,2\n3,4\n{epoch}")
        archive.writestr("pm_2_3_4_5/n_tegrastats.csv", f"time,uptime,power cur,log_time\n{jtop}")
        archive.writestr("pm_2_3_4_5/n_cpufreq_stats.csv", f"1,log_time\n{jtop}")
    content = bytearray(packed.getvalue())
    read_or_refuse(path, bytes(content))
    content[flip % len(content)] ^= 0xFF
    read_or_refuse(path, bytes(content))
