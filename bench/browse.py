"""The site at size: pages, facets, heat maps and exports of what bench.fill made. Medians of five.

Wall time, and beside it the processor time of this process: with SQLite all there is, with PostgreSQL all but
the server's. A machine with other work to do shows it in the first only.

DATABASE_URL=sqlite:////tmp/big.sqlite3 python -m bench.browse
"""

import os
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import django

TIMES = 5
THREE = ("workload=bench-1&emulated=true&cores__gte=4", "flag=hot&kind=inference&power_mw__lte=20000")
THREE += ("device_model={board}&flagged=false&uploader=bench-3", "cores=1&gpu_khz__lte=1&flag=dvfs_on")
THREE += ("search=nosuchword&emulated=true&kind=inference", "search=net&kind=training&time_ms__gte=100")
# Facets of which several values are chosen.
SEVERAL = ("workload=bench-1&workload=bench-2&flag=hot&flag=short&emulated=true",)
SEVERAL += ("device_model={board}&state=failed&state=cancelled&uploader=bench-1&uploader=bench-3",)
SEVERAL += (
    "workload=bench-1&workload=bench-7&kind=inference&kind=training&cores__gte=4&flag=dvfs_on&flag=unstable",
)
PAGES = (f"/runs/?{THREE[0]}", f"/runs/?{THREE[3]}", "/runs/explore/", "/compare/", "/workloads/")
# A page needs the addresses of its pictures only, not the files themselves.
STATIC = "django.contrib.staticfiles.storage.StaticFilesStorage"
FILES = "django.core.files.storage.FileSystemStorage"
PLAIN = {"default": {"BACKEND": FILES}, "staticfiles": {"BACKEND": STATIC}}


def main(_: list[str] | None = None) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jetsonlab.settings")
    django.setup()
    from django.contrib.auth.models import User
    from django.test import Client, override_settings
    from rest_framework.test import APIClient

    client: Any = APIClient(headers={"host": "127.0.0.1"})
    person, _new = User.objects.get_or_create(username="bench-0")
    client.force_authenticate(person)

    def get(address: str, client: Any = client) -> Any:
        answer = client.get(address)
        assert answer.status_code == 200, answer.content[:500]
        return answer

    board = get("/api/v1/runs/?page_size=1").json()["results"][0]["device_model"]
    for filters in (*THREE, *SEVERAL):
        query = filters.format(board=board)
        report(f"first page, {query}", lambda query=query: get(f"/api/v1/runs/?{query}"))
        report(f"facets, {query}", lambda query=query: get(f"/api/v1/runs/facets/?{query}"))
    report("facets, no filter", lambda: get("/api/v1/runs/facets/"))
    pair = f"workload=bench-1&device_model={heat_board()}"
    for asked in (pair, f"{pair}&workload=bench-2"):
        report(f"heat map, {asked}", lambda asked=asked: get(f"/api/v1/runs/heat/?{asked}"))
    browser = Client(headers={"host": "127.0.0.1"})
    browser.force_login(person)
    with override_settings(STORAGES=PLAIN):
        for page in PAGES:
            report(f"page {page}", lambda page=page: get(page, browser))
    for name in ("csv", "json", "parquet"):
        export(get, f"/api/v1/runs/export/?format={name}&id__lte=100000")


def heat_board() -> str:
    from profiling.models import Run

    run = Run.objects.filter(workload__slug="bench-1").select_related("device_model").first()
    assert run is not None
    return run.device_model.slug


def report(what: str, ask: Callable[[], Any]) -> None:
    ask()
    wall, cpu = (
        1000 * statistics.median(took) for took in zip(*(_seconds(ask) for _ in range(TIMES)), strict=True)
    )
    print(f"{wall:7.0f} ms, {cpu:5.0f} ms of processor  {what}", flush=True)


def export(get: Callable[[str], Any], address: str) -> None:
    before, began, cpu, size = _peak_mb(), time.perf_counter(), time.process_time(), 0
    for piece in get(address).streaming_content:
        size += len(piece)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    grown = _peak_mb() - before
    spent = f"{cpu:.1f} s of processor, {size / 1e6:.0f} MB, peak memory +{grown:.0f} MB"
    print(f"{100_000 / took:7.0f} rows/s, {spent}  {address}")


def _seconds(ask: Callable[[], Any]) -> tuple[float, float]:
    began, cpu = time.perf_counter(), time.process_time()
    ask()
    return time.perf_counter() - began, time.process_time() - cpu


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
