"""Batches under way, remembered in a real Elasticsearch."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, install, uninstall
from resin_es.adapters.elasticsearch.batch_book import ElasticsearchBatchBook
from resin_es.errors import StoreNotInstalled
from resin_es.index.settings import StoreSettings
from resin_es.ports import BatchRecord, ModelIdentity

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

EARLY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def a_record(key: str, **fields: object) -> BatchRecord:
    values = {"stage": "passages", "model": "m", "call_ids": ("1", "2"), "created_at": EARLY}
    return BatchRecord.model_validate({"key": key, **values, **fields})


@pytest.fixture(scope="module")
def settings(es: Elasticsearch) -> Iterator[StoreSettings]:
    chosen = StoreSettings(prefix=f"t-{uuid.uuid4().hex[:10]}", page=5)
    install(es, chosen, ModelIdentity(name="fake", dims=3))
    yield chosen
    uninstall(es, chosen)


def test_a_record_is_found_at_once_by_another_process_until_it_is_closed(
    es: Elasticsearch, settings: StoreSettings
) -> None:
    late = a_record("b", created_at=EARLY + timedelta(hours=1))
    book, other = ElasticsearchBatchBook(es, settings), ElasticsearchBatchBook(es, settings)
    assert other.open() == []
    book.keep(late)
    book.keep(a_record("a"))
    assert other.open() == [a_record("a"), late]
    named = late.model_copy(update={"batch_id": "msgbatch_1", "dollars": 0.25})
    book.keep(named)
    assert other.open() == [a_record("a"), named]
    other.close("a")
    other.close("a")
    assert book.open() == [named]
    other.close("b")
    assert book.open() == []


def test_many_records_and_a_full_cache(es: Elasticsearch, settings: StoreSettings) -> None:
    store, book = ElasticsearchStore(es, settings), ElasticsearchBatchBook(es, settings)
    store.cache_put({f"k{number}": b"x" for number in range(12)})
    records = [
        a_record(str(number), created_at=EARLY + timedelta(seconds=number), call_ids=ids)
        for number, ids in enumerate([("c",) * 3, *(("c",),) * 11])
    ]
    for record in reversed(records):
        book.keep(record)
    store.refresh()
    assert list(book.open()) == records
    for record in records:
        book.close(record.key)
    assert store.cache_get(["k0"]) == {"k0": b"x"}


def test_without_indices_nothing_is_laid_out_by_the_way(es: Elasticsearch) -> None:
    book = ElasticsearchBatchBook(es, StoreSettings(prefix=f"t-{uuid.uuid4().hex[:10]}"))
    for act in (lambda: book.keep(a_record("a")), book.open, lambda: book.close("a")):
        try:
            act()
        except StoreNotInstalled:
            continue
        assert act is not book.open, "an empty list where there is no index at all"
