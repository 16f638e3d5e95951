"""Commit of a batch of read documents, and the purge of what it made stale.

Order matters: write, refresh, flip, rights, purge. Searches see new addresses before the
registry lists them (the fence holds them back) and old ones until they are purged (the fence
holds those back from the flip on), so no reader ever finds a gap or a mixture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from resin_es.extract.read import Reading
from resin_es.index.report import IndexReport
from resin_es.index.settling import Flipped, settle, take_back, unchanged
from resin_es.index.vectors import embed_cached
from resin_es.index.work import (
    RetryAt,
    Work,
    at_once,
    build_records,
    committed_entry,
    texts_to_embed,
)
from resin_es.ports import Embedder, UnitStore

Item = tuple[Work, Reading]


def commit(
    store: UnitStore,
    embedder: Embedder,
    items: Sequence[Item],
    *,
    pipeline: str,
    now: datetime,
    cache: bool,
    report: IndexReport,
    provisional: bool = False,
    retry_at: RetryAt = at_once,
) -> list[Item]:
    """Commit the batch; returns the items that won their flip. A document that was taken away
    while it was read gets nothing written. Raises StoreError, ModelError."""
    embed = partial(_vectors, store, embedder, cache=cache, report=report)
    vectors = embed([text for _, reading in items for text in texts_to_embed(reading)])
    ours = unchanged(store, {work.entry.key: work.guard for work, _ in items})
    _count_lost(report, [work for work, _ in items if work.entry.key not in ours])
    items = [item for item in items if item[0].entry.key in ours]
    if not items:
        return []
    entries = [
        committed_entry(
            *item, pipeline=pipeline, now=now, provisional=provisional, retry_at=retry_at
        )
        for item in items
    ]
    records = [
        build_records(entry, reading, vectors)
        for entry, (_, reading) in zip(entries, items, strict=True)
    ]
    store.write(
        [address for one in records for address in one.addresses],
        [passage for one in records for passage in one.passages],
    )
    store.refresh()
    guards = store.put_entries(
        [(entry, work.guard) for entry, (work, _) in zip(entries, items, strict=True)]
    )
    rows = list(zip(items, entries, guards, records, strict=True))
    report.purged += settle(
        store,
        [
            Flipped(work, entry, guard, held)
            for (work, _), entry, guard, held in rows
            if guard is not None and not entry.settled
        ],
        embed,
    )
    lost = [(work, held) for (work, _), _, guard, held in rows if guard is None]
    _count_lost(report, [work for work, _ in lost])
    report.purged += take_back(store, {work.entry.key: held for work, held in lost})
    return [item for item, _, guard, _ in rows if guard is not None]


def _count_lost(report: IndexReport, works: Sequence[Work]) -> None:
    for work in works:
        report.busy += 1
        report.failures.append(
            (work.document.external_id, "it changed while it was read; run again")
        )


def _vectors(
    store: UnitStore,
    embedder: Embedder,
    texts: Sequence[str],
    *,
    cache: bool,
    report: IndexReport,
) -> dict[str, list[float]]:
    texts = list(dict.fromkeys(texts))
    if not texts:
        return {}
    cached = 0

    def get(keys: Sequence[str]) -> Mapping[str, bytes]:
        nonlocal cached
        found = store.cache_get(keys) if cache else {}
        cached += len(found)
        return found

    def put(values: Mapping[str, bytes]) -> None:
        if cache:
            store.cache_put(values)

    vectors = embed_cached(texts, embedder, get, put)
    report.embedded += len(texts) - cached
    report.embedded_from_cache += cached
    return {text: row.tolist() for text, row in zip(texts, vectors, strict=True)}
