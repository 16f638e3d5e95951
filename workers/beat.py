"""What is done when, whoever asks.

The timetable lives in memory: a restarted beat begins with everything once. A second beat puts
everything twice, which changes nothing: a sync holds its source's lease, and every task is safe
to run twice.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.background import (
    QUEUE_OF,
    RedisBroker,
    lanes,
    reached,
    redis_broker,
    task_name,
)
from resin_es.errors import QueueUnavailable

if TYPE_CHECKING:
    from celery import Celery

    from resin_es.settings import Settings

logger = logging.getLogger("resin_es.workers")

DAY_S = 86_400.0


def timetable(settings: Settings) -> dict[str, dict[str, Any]]:
    """Celery's ``beat_schedule``: every source, the registry's unfinished work, old traces.

    A message expires when the next one is due: workers that were away for a night do not begin
    the day with a night's worth of syncs.
    """
    pauses = {
        "sync_source": settings.sync_seconds,
        "reconcile": settings.reconcile_seconds,
        "retention": DAY_S,
    }
    return {
        task: {
            "task": task_name(task),
            "schedule": pause,
            "args": ("", []),
            "options": {"queue": lanes(QUEUE_OF[task])[0], "expires": pause},
        }
        for task, pause in pauses.items()
    }


def put_once(app: Celery, settings: Settings) -> None:
    """Everything in the timetable, now. Raises QueueUnavailable."""
    for entry in app.conf.beat_schedule.values():
        with reached(settings, f"queueing {entry['task']}"):
            app.send_task(entry["task"], args=entry["args"], **entry["options"])


def telling_scheduler(settings: Settings) -> type[Any]:
    """Celery's scheduler, which tells in Redis when it last put something."""
    from celery.beat import Scheduler

    broker = redis_broker(settings)
    tell(broker)  # what is put at the start counts

    class Telling(Scheduler):  # type: ignore[misc]
        def apply_async(self, entry: Any, *args: Any, **kwargs: Any) -> Any:
            result = super().apply_async(entry, *args, **kwargs)
            tell(broker)
            return result

    return Telling


def tell(broker: RedisBroker) -> None:
    """This beat has just put something. A Redis that is away is told of by the scheduler."""
    host, pid = socket.gethostname(), os.getpid()
    word = {"host": host, "pid": pid, "at": time.time()}
    try:
        broker.tell(f"{host}-{pid}", word, DAY_S, kind="beat")
    except QueueUnavailable as error:
        logger.warning("nobody hears that beat is alive: %s", error)
