"""Tasks put where Celery workers take them (extra ``workers``)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from resin_es.adapters.celery_app import QUEUE_OF, BrokerOptions, celery_app, task_name
from resin_es.adapters.redis_broker import PUT_AT, RedisBroker
from resin_es.ports.sync import QueueName, TaskName

if TYPE_CHECKING:
    from celery import Celery


class CeleryQueue:
    """A ``TaskQueue``. Connects when it is first used; one a process, made after a fork.
    Raises QueueUnavailable."""

    def __init__(self, options: BrokerOptions) -> None:
        self._options = options
        self.broker = RedisBroker(options)

    @cached_property
    def _app(self) -> Celery:
        return celery_app(self._options)

    def put(
        self, task: TaskName, source: str = "", keys: Sequence[str] = (), *, first: bool = False
    ) -> None:
        """Ids alone go out."""
        app = self._app
        lane = self.broker.lane(QUEUE_OF[task], source, first=first)
        with self.broker.reached(f"queueing {task}"):
            app.send_task(
                task_name(task),
                args=(source, list(keys)),
                queue=lane,
                headers={PUT_AT: time.time()},
                ignore_result=True,
            )

    def depth(self, queue: QueueName) -> int:
        """Messages waiting; those that a worker holds are not among them."""
        return self.broker.depth(queue)
