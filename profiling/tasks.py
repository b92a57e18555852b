"""The worker's doorbell: ids in, one service each."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from profiling import bulk
from profiling.services import agents, imports, people, retention, sweeps, uploads


@shared_task
def upload_work(upload_id: int) -> None:
    imports.upload_work(upload_id=upload_id)


@shared_task
def upload_clear(upload_id: int) -> None:
    uploads.upload_clear(upload_id=upload_id)


@shared_task
def look_after_sweeps() -> None:
    agents.runs_reap()
    sweeps.sweeps_settle()


@shared_task
def look_after_uploads() -> None:
    imports.uploads_wake()


@shared_task
def look_after_telemetry() -> None:
    retention.telemetry_retain_as_set()


@shared_task
def look_after_people() -> None:
    people.sessions_forget()


@shared_task
def look_after_tables() -> None:
    bulk.tables_count()


@worker_ready.connect
def look_for_work(**_: Any) -> None:
    imports.uploads_wake()
