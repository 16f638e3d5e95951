"""The process that shows a worker's metrics: ``python -m resin_es.workers.exporter PID``.

It ends when the worker with that pid does.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from resin_es.errors import ResinError

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

    from resin_es.settings import Settings

logger = logging.getLogger("resin_es.workers")


class Looking:
    """A collector of what stands in Elasticsearch and Redis at the moment of a scrape."""

    def __init__(
        self,
        by_source: Callable[[], Iterable[tuple[str, str, int]]],
        queues: Callable[[], Iterable[tuple[str, int, float]]],
    ) -> None:
        """``by_source`` gives (source, state, documents), ``queues`` (queue, messages, age of
        the oldest in seconds); both may raise ResinError."""
        self._by_source, self._queues = by_source, queues

    def collect(self) -> Iterable[GaugeMetricFamily]:
        from prometheus_client.core import GaugeMetricFamily

        up = GaugeMetricFamily("resin_up", "Whether it answered.", labels=["service"])
        documents = GaugeMetricFamily(
            "resin_documents", "Documents by state.", labels=["source", "state"]
        )
        depth = GaugeMetricFamily("resin_queue_depth", "Messages waiting.", labels=["queue"])
        age = GaugeMetricFamily(
            "resin_queue_age_seconds", "Seconds the oldest message has waited.", labels=["queue"]
        )
        try:
            for source, state, count in self._by_source():
                documents.add_metric([source, state], count)
            up.add_metric(["elasticsearch"], 1)
        except ResinError as error:
            up.add_metric(["elasticsearch"], 0)
            logger.warning("metrics without documents: %s", error)
        try:
            for queue, messages, seconds in self._queues():
                depth.add_metric([queue], messages)
                age.add_metric([queue], seconds)
            up.add_metric(["redis"], 1)
        except ResinError as error:
            up.add_metric(["redis"], 0)
            logger.warning("metrics without queues: %s", error)
        yield from (up, documents, depth, age)


def looking(settings: Settings) -> Looking:
    """By the settings' own Elasticsearch and Redis."""
    from resin_es.bootstrap import Services
    from resin_es.bootstrap.background import QUEUE_OF, redis_broker
    from resin_es.model import Principal

    services, broker = Services(settings), redis_broker(settings)

    def by_source() -> Iterable[tuple[str, str, int]]:
        for one in services.store.coverage(Principal(admin=True), ()):
            yield from ((one.source, state, count) for state, count in one.by_status.items())

    def queues() -> Iterable[tuple[str, int, float]]:
        for queue in sorted(set(QUEUE_OF.values())):
            yield queue, broker.depth(queue), broker.age(queue)

    return Looking(by_source, queues)


def main(worker: int) -> None:
    """Show until the process ``worker``, which started this one, is gone."""
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.multiprocess import MultiProcessCollector

    from resin_es.bootstrap.background import preload
    from resin_es.settings import load_settings
    from resin_es.workers import logs

    settings = load_settings()
    logs.set_up(settings)
    preload(settings, reading=False)  # a first scrape should not wait for it
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(looking(settings))
    assert settings.metrics_port is not None, "started without a port"
    try:
        start_http_server(settings.metrics_port, addr=settings.metrics_host, registry=registry)
    except OSError as error:
        logger.error(
            "no metrics: %s:%s cannot be listened on: %s",
            settings.metrics_host,
            settings.metrics_port,
            error,
        )
        return
    while os.getppid() == worker:
        time.sleep(1.0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
