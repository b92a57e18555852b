"""Fill a lab with made-up runs and telemetry, to measure the site at size. The runs are marked emulated.

    DATABASE_URL=sqlite:////tmp/big.sqlite3 python -m bench.fill --runs 1000000 --values 100000000

Everything is drawn from one seed: the same numbers on every machine and database.
"""

import argparse
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

import django

AT_ONCE = 20_000
CHANNELS, CHUNK_ROWS = 30, 360  # 10,800 values a run: 36 s at 10 Hz
FLAG_SETS = ("[]", '["throttled"]', '["short"]', '["unstable", "hot"]', '["few_power_samples"]')
FLAG_SHARES = (0.9, 0.04, 0.03, 0.01, 0.02)
WORKLOADS, UPLOADS, UPLOADERS = 40, 400, 8


def batches(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while some := list(islice(items, size)):
        yield some


def inventory() -> tuple[list[Any], list[Any]]:
    from django.contrib.auth.models import User

    from profiling.catalog import device_model_entries
    from profiling.models import DeviceModel, Upload, Workload
    from profiling.services.catalog import device_model_seed

    for entry in device_model_entries():
        device_model_seed(entry=entry)
    boards = [board for board in DeviceModel.objects.order_by("pk") if board.mode_count > 100][:5]
    people = [User.objects.get_or_create(username=f"bench-{n}")[0] for n in range(UPLOADERS)]
    workloads = [
        Workload.objects.get_or_create(
            slug=f"bench-{n}",
            defaults={
                "name": f"Bench {n}",
                "kind": ("training", "inference")[n % 2],
                "network": f"Net {n % 10}",
                "minibatch": 16,
            },
        )[0]
        for n in range(WORKLOADS)
    ]
    uploads = [
        Upload.objects.create(
            filename=f"bench-{n}.csv",
            size=1,
            sha256=f"{n:064x}",
            uploader=people[n % UPLOADERS],
            workload=workloads[n % WORKLOADS],
            device_model=boards[n // WORKLOADS % len(boards)],
            state=Upload.State.DONE,
            emulated=True,
        )
        for n in range(UPLOADS)
    ]
    return boards, uploads


def run_rows(count: int, uploads: list[Any], boards: dict[int, Any]) -> Iterator[tuple[Any, ...]]:
    import numpy as np
    from django.utils import timezone

    draw, now = np.random.default_rng(7), timezone.now()
    for start in range(0, count, AT_ONCE):
        size = min(AT_ONCE, count - start)
        chosen = draw.integers(0, len(uploads), size)
        flags = draw.choice(len(FLAG_SETS), size, p=FLAG_SHARES)
        picks = draw.random((size, 4))
        noise = draw.normal(1, 0.02, (size, 2))
        for n in range(size):
            upload = uploads[chosen[n]]
            board = boards[upload.device_model_id]
            knobs = [
                values[int(pick * len(values))]
                for values, pick in zip(
                    (board.cores, board.cpu_khz, board.gpu_khz, board.mem_khz), picks[n], strict=True
                )
            ]
            time_ms = 5e8 / (knobs[2] + 0.3 * knobs[1]) * noise[n, 0]
            power_mw = (5000 + knobs[2] / 60 + knobs[0] * knobs[1] / 1000) * noise[n, 1]
            yield (
                upload.workload_id, upload.device_model_id, "complete", True, *knobs, 16,
                time_ms, time_ms * 0.02, power_mw, time_ms * power_mw / 1000, 40, 20,
                FLAG_SETS[flags[n]], "{}", "{}", "{}", 0, "", upload.pk, start + n + 2, "",
                now - timedelta(minutes=count - start - n),
            )  # fmt: skip


COLUMNS = (
    *("workload_id", "device_model_id", "state", "emulated", "cores", "cpu_khz", "gpu_khz", "mem_khz"),
    *("minibatch", "time_ms", "time_sd_ms", "power_mw", "energy_mj", "minibatches", "power_samples"),
    *("flags", "unknowns", "extra", "provenance", "attempts", "failure", "upload_id", "line", "correction"),
    "created",
)


def fill_runs(count: int, uploads: list[Any], boards: dict[int, Any]) -> None:
    from django.db import connection, transaction

    places = ", ".join(["%s"] * len(COLUMNS))
    statement = f"INSERT INTO profiling_run ({', '.join(COLUMNS)}) VALUES ({places})"  # noqa: S608
    rows = run_rows(count, uploads, boards)
    for some in batches(rows, AT_ONCE):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(statement, some)


def fill_telemetry(values: int) -> None:
    """A few different chunks, stored again and again: packing 100 million values would measure zstd."""
    import numpy as np

    from profiling.models import Run, Telemetry
    from profiling.telemetry import pack

    draw = np.random.default_rng(8)
    names = [f"power_rail{n}_mw" for n in range(CHANNELS - 1)]
    chunks = [
        pack(
            {
                "time_s": np.arange(CHUNK_ROWS) / 10,
                **{name: np.cumsum(draw.integers(-40, 41, CHUNK_ROWS)) + 9000 for name in names},
            }
        )
        for _ in range(20)
    ]
    wanted = values // (CHANNELS * CHUNK_ROWS)
    ids = Run.objects.order_by("id").values_list("pk", flat=True)[:wanted].iterator()
    telemetry = (Telemetry(run_id=pk, **chunks[n % len(chunks)]._asdict()) for n, pk in enumerate(ids))
    for some in batches(telemetry, 500):
        Telemetry.objects.bulk_create(some)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--values", type=int, default=100_000_000)
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jetsonlab.settings")
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    boards, uploads = inventory()
    for step in (
        lambda: fill_runs(asked.runs, uploads, {board.pk: board for board in boards}),
        lambda: fill_telemetry(asked.values),
        lambda: connection.cursor().execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE"),
    ):
        began = time.monotonic()
        step()
        print(f"{time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
