"""Bulk writes: bounded by bytes, only rejected items tried again, every reason kept."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from elasticsearch import ApiError, helpers

from resin_es.adapters.elasticsearch.errors import item_reason, translate, translated
from resin_es.errors import StoreRejected
from resin_es.index.settings import StoreSettings
from resin_es.ports import BulkReport

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

RETRIED = frozenset({429, 502, 503})
"""Statuses that say "later": the item itself is fine."""

Action = Mapping[str, Any]
Item = Mapping[str, Any]


@dataclass
class Outcome:
    """What became of each action, in order: its item as Elasticsearch answered it."""

    items: list[Item] = field(default_factory=list)
    retries: int = 0


def bulk(
    client: Elasticsearch,
    actions: Iterable[Action],
    settings: StoreSettings,
    doing: str,
    *,
    require_alias: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> Outcome:
    """Send ``actions``; items are answered one by one, none raises for its own sake.

    ``require_alias`` keeps a write to a missing alias from making an index of that name.
    Raises the StoreError of a request that failed as a whole (unreachable, refused …).
    """
    outcome = Outcome()
    source = iter(actions)
    while batch := list(islice(source, settings.bulk_items)):
        send = partial(_send, client, settings=settings, doing=doing, require_alias=require_alias)
        items, retries = _batch(send, batch, settings, sleep)
        outcome.items += items
        outcome.retries += retries
    return outcome


def _batch(
    send: Callable[[Sequence[Action]], Iterable[Item]],
    actions: Sequence[Action],
    settings: StoreSettings,
    sleep: Callable[[float], None],
) -> tuple[list[Item], int]:
    answers: dict[int, Item] = {}
    pending = list(range(len(actions)))
    retries = 0
    for attempt in range(settings.retries + 1):
        if attempt:
            sleep(pause(attempt, settings))
            retries += len(pending)
        for position, item in zip(pending, send([actions[i] for i in pending]), strict=True):
            answers[position] = item
        pending = [i for i in pending if answers[i].get("status") in RETRIED]
        if not pending:
            break
    return [answers[i] for i in range(len(actions))], retries


def pause(attempt: int, settings: StoreSettings) -> float:
    """Seconds before try ``attempt`` (from 1): exponential, capped, with full-width jitter, so
    that writers which were turned down together do not come back together."""
    ceiling = min(settings.max_backoff, settings.backoff * 2 ** (attempt - 1))
    return float(ceiling * random.uniform(0.5, 1.0))


def _send(
    client: Elasticsearch,
    actions: Sequence[Action],
    settings: StoreSettings,
    doing: str,
    require_alias: bool,
) -> Iterable[Item]:
    with translated(doing, client):
        answered = helpers.streaming_bulk(
            client,
            [dict(action) for action in actions],
            chunk_size=settings.bulk_items,
            max_chunk_bytes=settings.bulk_bytes,
            raise_on_error=False,
            raise_on_exception=False,
            require_alias=require_alias,
        )
        for _, told in answered:
            (item,) = told.values()
            whole = item.get("exception")
            if isinstance(whole, ApiError) and whole.status_code not in RETRIED | {413}:
                raise translate(whole, doing, client) from whole
            yield item


def report(outcome: Outcome, doing: str, *, ignore: frozenset[int] = frozenset()) -> BulkReport:
    """The outcome as the port tells it. Raises StoreRejected with the reasons counted, if any
    item failed for good; statuses in ``ignore`` count neither as written nor as failed."""
    failed: list[str] = []
    written = 0
    for item in outcome.items:
        status = int(item.get("status", 500))
        if 200 <= status < 300:
            written += 1
        elif status not in ignore:
            failed.append(item_reason(item))
    if failed:
        raise rejected(failed, doing, len(outcome.items))
    return BulkReport(written=written, retries=outcome.retries)


def rejected(reasons: Iterable[str], doing: str, total: int) -> StoreRejected:
    """A StoreRejected that names the commonest reason and keeps them all."""
    counted = Counter(reasons)
    first, _ = counted.most_common(1)[0]
    return StoreRejected(
        f"Elasticsearch rejected {sum(counted.values())} of {total} items while {doing}; first "
        f"reason: {first}.",
        reasons=dict(counted),
    )
