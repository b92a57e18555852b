"""Waking a worker. The database is the truth: a lost message costs nothing, a worker looks as it starts."""

from celery import signature
from django.db import transaction


def wake_worker(task: str, *ids: int) -> None:
    """Once the transaction is committed. A broker that is down is logged, and answers nobody with a 500."""
    transaction.on_commit(signature(task, args=ids).delay, robust=True)
