"""The agent's other face: `celery -A profiling.agent.celery worker`, one board, its queue device.<slug>.

A message only wakes the loop that otherwise polls, so that a lost or doubled one costs nothing. The board
talks to the server over HTTPS like any other agent, and never sees the database.
"""

import threading
from typing import Any

from celery import Celery, signals

from profiling.agent.config import load_config
from profiling.agent.loop import only_agent
from profiling.agent.making import make_agent
from profiling.broker import make_folder_broker_safe

WAKE = "jetsonlab.agent.wake"

make_folder_broker_safe()
config = load_config()
app = Celery("jetsonlab-agent", broker=config.broker or "memory://")
app.conf.update(
    task_default_queue=f"device.{config.device}",
    broker_transport_options=config.broker_options,
    task_ignore_result=True,
    accept_content=["json"],
    broker_connection_retry_on_startup=True,
    worker_pool="solo",  # the loop lives in this process, and the message must reach it
    worker_hijack_root_logger=False,
)
lock = only_agent(config.state)
agent = make_agent(config)
loop = threading.Thread(target=agent.serve, args=(config.poll_s,), name="agent")


@app.task(name=WAKE)
def wake() -> None:
    agent.wake.set()


@signals.worker_ready.connect
def begin(**_: Any) -> None:
    lock.__enter__()
    loop.start()


@signals.worker_shutting_down.connect
def end(**_: Any) -> None:
    agent.end()
