"""The Celery application of a worker or of beat, made from settings."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any, cast

from resin_es.bootstrap.background import (
    LANES,
    celery_app,
    lanes,
    preload,
    redis_broker,
    start_local_node,
)
from resin_es.bootstrap.estimating import check_priced
from resin_es.errors import InputError
from resin_es.ports.sync import QueueName
from resin_es.workers import beat, health, logs, metrics, tasks, tracing
from resin_es.workers.site import Site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celery import Celery

    from resin_es.settings import Settings

QUEUES: tuple[QueueName, ...] = tuple(LANES)


def make_app(settings: Settings) -> Celery:
    """With tasks and timetable. Raises QueueUnavailable where Celery is not installed,
    SettingsError."""
    app = celery_app(settings)
    tasks.register(app, Site(settings))
    app.conf.beat_schedule = beat.timetable(settings)
    return app


def queue_names(chosen: str | None) -> tuple[QueueName, ...]:
    """``--queues``: all by default. Raises InputError for one that there is not."""
    if chosen is None:
        return QUEUES
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    unknown = [name for name in names if name not in QUEUES]
    if unknown or not names:
        raise InputError(
            f"there is no queue {', '.join(map(repr, unknown or [chosen]))}.",
            hint=f"The queues: {', '.join(QUEUES)}.",
        )
    return tuple(cast("list[QueueName]", dict.fromkeys(names)))


def run_worker(settings: Settings, queues: Sequence[QueueName], concurrency: int | None) -> int:
    """Work until told to stop; returns the exit code. Raises QueueUnavailable where Redis does
    not answer or its database is somebody else's, SettingsError."""
    if settings.llm != "none":
        check_priced(settings, [settings.llm_read_model])
    broker = redis_broker(settings)
    broker.wait()
    broker.check()
    broker.close()  # nothing that is connected is carried over the fork
    start_local_node(settings)
    with metrics.shown(settings):
        app = make_app(settings)
        tracing.check(settings)
        logs.set_up(settings)
        preload(settings)
        name = f"{socket.gethostname()}-{os.getpid()}"
        health.watch(app, settings, name, queues)
        worker: Any = app.Worker(
            hostname=f"resin@{name}",
            pool_cls="prefork",
            concurrency=concurrency or settings.concurrency,
            queues=[lane for queue in queues for lane in lanes(queue)],
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            loglevel=settings.log_level.upper(),
            quiet=True,
        )
        worker.start()
        return int(worker.exitcode or 0)


def run_beat(settings: Settings) -> None:
    """Put what is due into the queue until told to stop. Raises as ``run_worker``."""
    broker = redis_broker(settings)
    broker.wait()
    broker.check()
    app = make_app(settings)
    logs.set_up(settings)
    beat.put_once(app, settings)  # a restart takes up at once what was left lying
    scheduler = beat.telling_scheduler(settings)
    app.Beat(loglevel=settings.log_level.upper(), scheduler_cls=scheduler, quiet=True).run()
