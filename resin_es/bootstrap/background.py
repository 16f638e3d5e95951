"""Settings → background work: queue, Celery application, the service that tasks call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import SecretStr

from resin_es.adapters.celery_app import LANES, QUEUE_OF, BrokerOptions, lanes, task_name
from resin_es.adapters.redis_broker import RedisBroker
from resin_es.bootstrap.services import Services

if TYPE_CHECKING:
    from celery import Celery

    from resin_es.adapters.celery_queue import CeleryQueue
    from resin_es.llm.metered import MeteredModel
    from resin_es.model.source import SourceSpec
    from resin_es.ports import Ledger
    from resin_es.ports.sync import ForeignIndex, TaskQueue
    from resin_es.settings import Settings
    from resin_es.sync.service import SyncService

__all__ = [
    "LANES",
    "QUEUE_OF",
    "BackgroundServices",
    "RedisBroker",
    "broker_options",
    "celery_app",
    "lanes",
    "preload",
    "purge_traces",
    "reached",
    "redis_broker",
    "start_local_node",
    "sync_service",
    "task_name",
    "task_queue",
]


def broker_options(settings: Settings) -> BrokerOptions:
    return BrokerOptions(
        url=SecretStr(settings.redis_url),
        space=f"resin:{settings.prefix}:",
        task_s=settings.task_seconds,
    )


def task_queue(settings: Settings) -> CeleryQueue:
    """Where tasks are put. Connects when it is first used."""
    from resin_es.adapters.celery_queue import CeleryQueue

    return CeleryQueue(broker_options(settings))


def redis_broker(settings: Settings) -> RedisBroker:
    """Redis, for questions about queues and workers."""
    return RedisBroker(broker_options(settings))


def celery_app(settings: Settings) -> Celery:
    """The application without its tasks. Raises QueueUnavailable, SettingsError."""
    from resin_es.adapters.celery_app import celery_app as made

    return made(broker_options(settings))


def preload(settings: Settings, *, reading: bool = True) -> None:
    """Import what every task needs (``reading``: the reader, too) before processes are forked,
    which then share it and need not each take seconds for it. Nothing is connected, and no
    thread started."""
    readers = ("anthropic", "resin_es.llm.reader") if settings.llm == "claude" else ("spacy",)
    shared = ("adapters.elasticsearch", "bootstrap.sources", "sync.service")
    for name in (*(f"resin_es.{one}" for one in shared), *(readers if reading else ())):
        with suppress(ModuleNotFoundError):  # told with its hint where it is used
            import_module(name)


def start_local_node(settings: Settings) -> None:
    """Where no cluster is named: once, and not by every process of a worker at a time. Raises
    LocalNodeError."""
    services = Services(settings)
    if services.on_local_node:
        _ = services.url


@contextmanager
def reached(settings: Settings, doing: str) -> Iterator[None]:
    """What goes wrong with the broker meanwhile becomes QueueUnavailable."""
    with redis_broker(settings).reached(doing):
        yield


def sync_service(services: Services, queue: TaskQueue) -> SyncService:
    """What tasks and commands call; one a process, made after a fork. Nothing is connected
    before it is used, but the models are loaded."""
    from resin_es.bootstrap.sources import entry_listing, foreign_index, source_book
    from resin_es.bootstrap.stages import index_settings, sync_settings
    from resin_es.sync.desk import make_indexers
    from resin_es.sync.service import SyncService

    settings, book = sync_settings(services.settings), source_book(services)

    @cache
    def on_cluster(cluster: str) -> ForeignIndex:
        return foreign_index(services, cluster)

    def index_of(spec: SourceSpec) -> ForeignIndex:
        return on_cluster(spec.cluster)

    indexers = make_indexers(
        services.store,
        services.embedder,
        services.reader,
        index_settings(services.settings),
        book,
        settings,
    )
    return SyncService(
        services.store, book, entry_listing(services), index_of, indexers, queue, settings
    )


def purge_traces(services: Services, before: datetime) -> int:
    """Delete traces made before ``before``; returns how many went. Raises StoreError."""
    from resin_es.adapters.elasticsearch.keeping import KeepingPart
    from resin_es.bootstrap.stages import store_settings

    return KeepingPart(services.client, store_settings(services.settings)).purge_traces(before)


class BackgroundServices(Services):
    """What a worker uses: rate limits and spending are shared by all workers, whatever process
    or machine they run in."""

    def _span(self) -> str:
        """The span of time in which RESIN_MAX_COST holds, by name."""
        forms = {"day": "%Y-%m-%d", "month": "%Y-%m", "total": "total"}
        return datetime.now(timezone.utc).strftime(f"background {forms[self.settings.cost_window]}")

    @cached_property
    def ledger(self) -> Ledger:
        """What all workers spent."""
        from resin_es.adapters.elasticsearch.ledger import ElasticsearchLedger
        from resin_es.bootstrap.stages import store_settings

        return ElasticsearchLedger(self.client, store_settings(self.settings), scope=self._span)

    @cached_property
    def language(self) -> MeteredModel:
        from resin_es.bootstrap.language import metered_model

        if self.settings.llm == "none":
            return super().language
        return metered_model(self.settings, self.ledger, limits_in=self.settings.redis_url)
