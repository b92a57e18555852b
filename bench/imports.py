"""Importing a CSV of a million lines against pandas.read_csv of it, and how the site answers meanwhile.

    python -m bench.imports [--of runs|log] [--lines 1000000] [--json]

Into a lab of its own, thrown away afterwards, or into the database that DATABASE_URL names. The import is all
a worker does: recognise, check every line, resolve modes, write runs, show them. Meanwhile a page is asked
for, and a row written, again and again. Memory: the worker's own, and with the pages of files it has mapped.

A CSV of runs has a run a line; a CSV of jtop is the telemetry of one run, 28 channels wide.

The floor, of runs only, is what SQLite itself asks for as many rows: the seven numbers of each line, ready in
Python, into a table without an index, a hundred a statement, in one transaction.
"""

import argparse
import io
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import django

from bench.report import show

BOARD, WORKLOAD = "agx-orin", "bench-import"
PAUSE_S = 0.05


def write_runs(path: Path, lines: int) -> None:
    """Every mode some times over, told apart by a column, as a harness that repeats would write it."""
    import numpy as np
    import pandas as pd

    from profiling.models import DeviceModel

    draw = np.random.default_rng(1)
    modes = DeviceModel.objects.get(slug=BOARD).ranges.all_modes()
    cores, cpu, gpu, mem = modes[draw.integers(0, len(modes), lines)].T
    time_ms = 5e8 / (gpu + 0.3 * cpu) * draw.normal(1, 0.02, lines)
    power_mw = (5000 + gpu / 60 + cores * cpu / 1000) * draw.normal(1, 0.02, lines)
    table = {"cores": cores, "cpu_khz": cpu, "gpu_khz": gpu, "mem_khz": mem}
    table |= {"time_ms": time_ms.round(3), "power_mw": power_mw.round(1), "repeat": np.arange(lines)}
    pd.DataFrame(table).to_csv(path, index=False)


def write_log(path: Path, lines: int) -> None:
    """jtop's own CSV, a line a second."""
    import numpy as np
    import pandas as pd

    draw = np.random.default_rng(1)
    moments = pd.Timestamp("2026-01-02") + pd.to_timedelta(np.arange(lines), "s")
    table: dict[str, Any] = {"time": moments.strftime("%Y-%m-%d %H:%M:%S.%f"), "uptime": moments - moments[0]}
    table |= {"jetson_clocks": "ON", "nvp model": "MAXN"}
    table |= {f"CPU{core}": draw.integers(0, 101, lines) for core in range(1, 13)}
    table |= {"RAM": draw.random(lines).round(6), "EMC": draw.integers(0, 101, lines)}
    table["GPU"] = draw.integers(0, 1001, lines) / 10
    zones, rails = ("CPU", "GPU", "SOC0", "AO", "tj"), ("VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0", "TOT")
    table |= {f"Temp {zone}": draw.integers(30_000, 70_000, lines) / 1000 for zone in zones}
    table |= {f"Power {rail}": draw.integers(0, 20_000, lines) for rail in rails}
    pd.DataFrame(table).to_csv(path, index=False)


WRITERS = {"runs": write_runs, "log": write_log}


def inventory() -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from profiling.models import DeviceModel, Workload

    call_command("migrate", verbosity=0)
    if not DeviceModel.objects.filter(slug=BOARD).exists():
        call_command("seed_catalog", stdout=io.StringIO())
    User.objects.get_or_create(username="bench", defaults={"is_superuser": True})
    fields = {"name": "Bench import", "kind": "training", "network": "N", "minibatch": 16}
    Workload.objects.get_or_create(slug=WORKLOAD, defaults=fields)


def import_file(path: Path) -> dict[str, float]:
    """In a process of its own, so that its peak memory is its own."""
    from django.contrib.auth.models import User

    from profiling.models import DeviceModel, Workload
    from profiling.receiving import received
    from profiling.services.imports import upload_work
    from profiling.services.uploads import upload_receive

    with path.open("rb") as file:
        chunks = iter(lambda: file.read(1 << 20), b"")
        pair = {
            "workload": Workload.objects.get(slug=WORKLOAD),
            "device_model": DeviceModel.objects.get(slug=BOARD),
        }
        user = User.objects.get(username="bench")
        upload, _ = upload_receive(file=received(chunks, path.name), user=user, emulated=True, **pair)
    began, cpu = time.perf_counter(), time.process_time()
    upload_work(upload_id=upload.pk)
    took = {"import_s": time.perf_counter() - began, "import_cpu_s": time.process_time() - cpu}
    upload.refresh_from_db()
    assert upload.state == "done", (upload.state, upload.failure, upload.problems)
    return {**took, "rows": upload.rows_imported or 0, "peak_resident_mb": memory_mb("self", "VmHWM")}


def meanwhile(child: subprocess.Popen[str]) -> dict[str, float]:
    """Milliseconds of a list's first page and of a small write, as long as the child works."""
    from django.contrib.auth.models import User
    from rest_framework.test import APIClient

    client: Any = APIClient(headers={"host": "127.0.0.1"})
    person = User.objects.get(username="bench")
    client.force_authenticate(person)

    def write() -> None:
        User.objects.filter(pk=person.pk).update(last_name=str(time.time()))

    pages, writes, private = [], [], [0.0]
    while child.poll() is None:
        private.append(memory_mb(child.pid, "RssAnon"))
        pages.append(seconds(lambda: client.get("/api/v1/runs/?cores__gte=4")) * 1000)
        writes.append(seconds(write) * 1000)
        time.sleep(PAUSE_S)
    found = {"peak_private_mb": max(private)}
    for name, took in (("page_ms", pages), ("write_ms", writes)):
        found |= {name: statistics.median(took), f"{name}_worst": max(took)}
    return found


def memory_mb(pid: object, of: str) -> float:
    """As the kernel tells it, 0 once the process is gone. (getrusage's peak is partly that of its parent.)"""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except ProcessLookupError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(of)), 0.0)


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def floor_s(folder: Path, table: Any) -> tuple[float, float]:
    """Seconds, and seconds of processor, for the bare rows of the file."""
    width, cells = len(table.columns), table.astype(object).to_numpy().ravel().tolist()
    pieces = [cells[start : start + 100 * width] for start in range(0, len(cells), 100 * width)]
    row = f"({', '.join('?' * width)})"
    with closing(sqlite3.connect(folder / "floor.sqlite3")) as database:
        names = ", ".join(table.columns)
        database.executescript(
            f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE run ({names})"
        )
        began, cpu = time.perf_counter(), time.process_time()
        for piece in pieces:
            rows = ", ".join([row] * (len(piece) // width))
            database.execute(f"INSERT INTO run VALUES {rows}", piece)  # noqa: S608
        database.commit()
        return time.perf_counter() - began, time.process_time() - cpu


def compared(folder: Path, of: str, lines: int) -> dict[str, float]:
    import pandas as pd

    inventory()
    path = folder / "bench.csv"
    WRITERS[of](path, lines)
    cpu, read_s = time.process_time(), statistics.median(seconds(lambda: pd.read_csv(path)) for _ in range(3))
    cpu = (time.process_time() - cpu) / 3
    command = [sys.executable, "-m", "bench.imports", "--worker", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        answers = meanwhile(child)
        found = json.loads(child.stdout.read()) if child.stdout else {}
    bare = floor_s(folder, pd.read_csv(path)) if of == "runs" else None
    again_s = statistics.median(seconds(lambda: pd.read_csv(path)) for _ in range(3))
    pandas_s = (read_s + again_s) / 2
    times = {"times_pandas": found["import_s"] / pandas_s, "times_pandas_cpu": found["import_cpu_s"] / cpu}
    if bare:
        times |= {"floor_s": bare[0], "floor_cpu_s": bare[1]}
        times["times_floor_cpu"] = found["import_cpu_s"] / bare[1]
    return {"pandas_s": pandas_s, "pandas_cpu_s": cpu, **found, **times, **answers}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", choices=WRITERS, default="runs")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", type=Path, help="only import this file, and say what it took")
    asked = parser.parse_args(argv)
    if asked.worker:
        django.setup()
        print(json.dumps(import_file(asked.worker)))
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("JETSONLAB_DATA", folder)
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jetsonlab.settings")
        os.environ["LOG_LEVEL"] = "ERROR"
        django.setup()
        found = compared(Path(folder), asked.of, asked.lines)
    show(found, asked.json)


if __name__ == "__main__":
    main()
