"""Waking a worker. The database is the truth: a lost message costs nothing, a worker looks as it starts."""

from celery import current_app, signature
from django.db import transaction


def wake_worker(task: str, *ids: int) -> None:
    """Once the transaction is committed. A broker that is down is logged, and answers nobody with a 500."""
    transaction.on_commit(signature(task, args=ids).delay, robust=True)


def wake_agent(device_slug: str) -> None:
    """Ring at the board's own queue; an agent that polls instead comes by itself."""
    send = current_app.send_task
    transaction.on_commit(lambda: send("jetsonlab.agent.wake", queue=f"device.{device_slug}"), robust=True)
