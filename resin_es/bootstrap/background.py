"""Settings → background work: queue, Celery application, the service that tasks call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from functools import cached_property
from typing import TYPE_CHECKING

from resin_es.bootstrap.services import Services

if TYPE_CHECKING:
    from celery import Celery

    from resin_es.adapters.celery_app import BrokerOptions
    from resin_es.adapters.celery_queue import CeleryQueue
    from resin_es.adapters.redis_broker import RedisBroker
    from resin_es.llm.metered import MeteredModel
    from resin_es.ports import Ledger
    from resin_es.settings import Settings


def broker_options(settings: Settings) -> BrokerOptions:
    from pydantic import SecretStr

    from resin_es.adapters.celery_app import BrokerOptions

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
    from resin_es.adapters.redis_broker import RedisBroker

    return RedisBroker(broker_options(settings))


def celery_app(settings: Settings) -> Celery:
    """The application without its tasks. Raises QueueUnavailable, SettingsError."""
    from resin_es.adapters.celery_app import celery_app as made

    return made(broker_options(settings))


class BackgroundServices(Services):
    """What a worker uses: rate limits and spending are shared by all workers, whatever process
    or machine they run in."""

    @cached_property
    def ledger(self) -> Ledger:
        """What all workers spent."""
        from resin_es.adapters.elasticsearch.ledger import ElasticsearchLedger
        from resin_es.bootstrap.stages import store_settings

        return ElasticsearchLedger(self.client, store_settings(self.settings), scope=daily())

    @cached_property
    def language(self) -> MeteredModel:
        from resin_es.bootstrap.language import metered_model

        if self.settings.llm == "none":
            return super().language
        return metered_model(self.settings, self.ledger, limits_in=self.settings.redis_url)


def daily(now: Callable[[], datetime] | None = None) -> Callable[[], str]:
    """The span in which RESIN_MAX_COST holds for background work: one day, by UTC."""
    clock = now or (lambda: datetime.now(timezone.utc))
    return lambda: f"background {clock():%Y-%m-%d}"
