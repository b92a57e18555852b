"""Whole columns of a file as runs, and the JSON of what has no column."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet
import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from profiling.bulk import rows_write
from profiling.models import Run, Upload
from profiling.receiving import received
from profiling.services import import_rows, imports
from profiling.services.import_extras import adopted, extra_json
from profiling.services.imports import upload_work
from profiling.services.uploads import upload_receive

MODE = {"cores": [2], "cpu_khz": [268_800], "gpu_khz": [318_750], "mem_khz": [665_600]}
MEASURED = {**MODE, "time_ms": [100.0], "power_w": [10.0]}


@pytest.fixture
def imported(eng, resnet, orin, tmp_path):
    def imported(table: pa.Table) -> Upload:
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
        file = received([(tmp_path / "t.parquet").read_bytes()], "t.parquet")
        upload, _ = upload_receive(file=file, user=eng, workload=resnet, device_model=orin)
        upload_work(upload_id=upload.pk)
        upload.refresh_from_db()
        assert upload.state == "done", (upload.failure, upload.problems)
        return upload

    return imported


def test_columns_keep_their_type_and_what_json_cannot_hold_becomes_text(imported):
    more = {"count": [3], "share": [0.25], "ok": [True], "note": ['say "hi"\n'], "nan": [float("nan")]}
    when = pa.array([datetime(2026, 1, 2, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    imported(pa.table({**MEASURED, **more, "when": when, "list": [[1, 2]]}))
    extra = Run.objects.get().extra
    assert extra.pop("when").startswith("2026-01-02 00:00:00")
    assert extra == {
        "count": 3,
        "share": 0.25,
        "ok": True,
        "note": 'say "hi"\n',
        "nan": "nan",
        "list": "[1, 2]",
    }


def test_columns_named_after_a_field_of_a_run_fill_it(imported):
    fields = {"time_sd_ms": ["2.5"], "minibatches": [40], "flags": ["hot, short"]}
    imported(
        pa.table({**MEASURED, **fields, "measured_at": ["2026-01-02T03:04:05+02:00"], "fetch_ms": ["soon"]})
    )
    run = Run.objects.get()
    assert (run.time_sd_ms, run.minibatches, run.flags) == (2.5, 40, ["hot", "short"])
    assert run.measured_at == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert (run.fetch_ms, run.extra) == (None, {"fetch_ms": "soon"})
    assert Run.objects.filter(measured_at__lte=run.measured_at).exists()


def test_time_and_energy_are_worked_out_where_they_can_be(imported):
    imported(pa.table({**MODE, "fps": [160.0], "power_w": [10.0]}))
    run = Run.objects.get()
    assert (run.time_ms, run.energy_mj) == (100, 1000)
    assert set(run.origin) == {"minibatch", "time_ms", "energy_mj"}
    assert run.unknowns == {}


def test_what_holds_of_all_runs_of_a_file_is_kept_once(imported):
    imported(pa.table({**MEASURED, "energy_mj": pa.nulls(1, pa.float64())}))
    run = Run.objects.get()
    assert run.upload.provenance == {"minibatch": "the workload's; the file names none"}
    assert run.provenance == {"energy_mj": "time × power"}


def test_nothing_is_said_of_how_an_unknown_field_was_worked_out(imported):
    imported(pa.table({**MODE, "time_ms": [100.0]}))
    assert set(Run.objects.get().origin) == {"minibatch"}


def test_runs_are_stored_in_the_order_of_their_modes_and_lead_back_to_their_lines(imported, monkeypatch):
    monkeypatch.setattr(import_rows, "ROWS_AT_ONCE", 1)
    twice = {name: values * 2 for name, values in MEASURED.items()} | {"cores": [4, 2]}
    imported(pa.table(twice))
    assert list(Run.objects.order_by("id").values_list("cores", "line")) == [(2, 2), (4, 1)]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1, max_size=5))
def test_any_text_comes_back_from_its_json(texts):
    found = extra_json(pa.table({"a": texts, 'b"': texts}), len(texts))
    assert [json.loads(each) for each in found.to_pylist()] == [{"a": t, 'b"': t} if t else {} for t in texts]


def test_nul_which_postgresql_cannot_keep_is_replaced():
    assert json.loads(extra_json(pa.table({"a": ["x\0y"]}), 1)[0].as_py()) == {"a": "x\ufffdy"}


def test_without_further_columns_nothing_is_kept():
    found, rest = adopted(pa.table({}))
    assert (found, extra_json(rest, 2).to_pylist()) == ({}, ["{}", "{}"])


def test_rows_that_share_a_statement_keep_their_own_values(imported):
    count = 1001
    modes = {name: values * count for name, values in MODE.items()}
    times = [float(n) if n % 7 else None for n in range(1, count + 1)]
    imported(pa.table({**modes, "time_ms": times, "power_w": [10.0] * count, "repeat": list(range(count))}))
    found = Run.objects.order_by("line").values_list("line", "time_ms", "extra__repeat", "minibatch")
    assert list(found) == [(n + 1, time, n, 16) for n, time in enumerate(times)]
    assert Run.objects.filter(unknowns__has_key="time_ms").count() == times.count(None)


def test_rows_that_point_at_what_is_gone_are_refused(resnet, orin):
    shared = {"workload_id": resnet.pk, "device_model_id": orin.pk, "upload_id": 99, "created": "2026-01-02"}
    with pytest.raises(IntegrityError, match="upload_id"):
        rows_write(Run, pa.table({"line": [2, 3]}), shared)
    assert not Run.everything.exists()


@pytest.mark.django_db(transaction=True)
def test_the_database_checks_again_what_rows_point_at_once_they_are_in(imported):
    imported(pa.table(MEASURED))
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.everything.update(upload_id=99)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases count their rows themselves")
def test_a_big_import_has_the_tables_counted_anew(imported, monkeypatch):
    monkeypatch.setattr(imports, "MANY", 1)
    imported(pa.table(MEASURED))
    with connection.cursor() as cursor:
        cursor.execute("SELECT stat FROM sqlite_stat1 WHERE tbl = 'profiling_run'")
        assert {int(stat.split()[0]) for (stat,) in cursor.fetchall()} == {1}
