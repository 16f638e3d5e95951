"""What ``doctor`` says of background work: Redis and the workers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from resin_es.bootstrap.background import redis_broker
from resin_es.errors import QueueUnavailable

if TYPE_CHECKING:
    from resin_es.adapters.elasticsearch import Check
    from resin_es.settings import Settings

SILENT_S = 30.0
"""A worker tells how it is every five seconds."""
OPTIONAL = "Only `resin-es worker` and `beat` need it; `resin-es sync NAME --here` does without."


def background_checks(settings: Settings) -> list[Check]:
    """Redis, and whoever works by it. Where nothing of it is set up, nothing is wrong."""
    from resin_es.adapters.elasticsearch import Check

    broker = redis_broker(settings)
    try:
        with broker.reached("looking"):
            broker.client.ping()
    except QueueUnavailable as error:
        return [Check(name="Redis", ok=None, detail=error.message, hint=OPTIONAL)]
    try:
        broker.check()
        waiting = ", ".join(f"{n} {queue}" for queue, n in broker.depths().items())
        workers = broker.told()
    except QueueUnavailable as error:
        return [Check(name="Redis", ok=False, detail=error.message, hint=error.hint)]
    finally:
        broker.close()
    told = f"{broker.options.address} answers; messages waiting: {waiting}"
    return [Check(name="Redis", ok=True, detail=told), _workers(workers)]


def workers_at_work(settings: Settings) -> list[str] | None:
    """Their names; None where Redis cannot say."""
    broker = redis_broker(settings)
    try:
        return _alive(broker.told())
    except QueueUnavailable:
        return None
    finally:
        broker.close()


def _alive(told: dict[str, dict[str, Any]]) -> list[str]:
    now = time.time()
    return [name for name, word in told.items() if now - word["at"] <= SILENT_S]


def _workers(told: dict[str, dict[str, Any]]) -> Check:
    from resin_es.adapters.elasticsearch import Check

    alive = _alive(told)
    if alive:
        return Check(name="workers", ok=True, detail=f"{len(alive)} at work: {', '.join(alive)}")
    return Check(name="workers", ok=None, detail="none", hint="`resin-es worker` starts one.")
