"""Sources and registry listings where they are kept."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from resin_es.adapters.elasticsearch.listing import ElasticsearchListing
from resin_es.adapters.elasticsearch.sources import ElasticsearchSources
from resin_es.errors import StoreConflict
from resin_es.model import DocumentStatus, StageError
from resin_es.model.source import Source, SourceSpec, SourceState

NOW = datetime(2024, 5, 1, 10, 0, 0, 123456, tzinfo=timezone.utc)


def source(name: str, **state: Any) -> Source:
    spec = SourceSpec(
        name=name,
        index="kb-*",
        text_fields=("body", "parts.text"),
        access="field",
        access_field="groups",
        metadata_fields=("product.name",),
    )
    return Source(spec=spec, state=SourceState(**state), created_at=NOW)


def test_sources_are_kept_changed_under_their_guard_and_removed(house: Any) -> None:
    book = ElasticsearchSources(house.es, house.settings)
    plain, other = source("kb/é 😀"), source("a")
    guard = book.put_source(plain, None)
    book.put_source(other, None)
    with pytest.raises(StoreConflict, match="exists already"):
        book.put_source(plain, None)
    error = StageError(stage="sync", type="StoreTimeout", message="m")
    changed = source("kb/é 😀", paused=True, watermark=NOW, heartbeat=NOW, lease="l", error=error)
    newer = book.put_source(changed, guard)
    with pytest.raises(StoreConflict, match="changed by somebody else"):
        book.put_source(plain, guard)
    stored = book.source("kb/é 😀")
    assert stored is not None
    assert (stored.source, stored.guard) == (changed, newer)
    assert [one.source for one in book.sources()] == [other, changed]
    for _ in range(2):
        book.remove_source("kb/é 😀")
    assert book.source("kb/é 😀") is None
    assert [one.source for one in book.sources()] == [other]
    book.remove_source("a")


def test_a_removed_source_may_be_added_again(house: Any) -> None:
    book = ElasticsearchSources(house.es, house.settings)
    for _ in range(2):
        book.put_source(source("again"), None)
        book.remove_source("again")


def test_entries_are_listed_with_all_that_reconciling_needs(house: Any) -> None:
    documents = [house.document(number) for number in range(3)]
    empty = house.document(8, "")
    elsewhere = house.document(9, source="t")
    house.indexer().index([*documents, empty, elsewhere])
    gone = documents.pop()
    house.indexer().delete("s", [gone.external_id])
    [stored] = house.store.entries([documents[0].key]).values()
    late = {"status": DocumentStatus.PENDING, "not_before": NOW, "attempts": 2, "settled": False}
    waiting = stored.entry.model_copy(update={**late, "lease": "l", "heartbeat": NOW})
    house.store.put_entry(waiting, stored.guard)
    house.store.refresh()
    listing = ElasticsearchListing(house.es, house.settings)

    found = {one.external_id: one for one in listing.briefs("s")}
    ids = {one.external_id for one in (*documents, empty, gone)}
    assert set(found) == ids
    assert {one.external_id for one in listing.briefs()} == ids | {elsewhere.external_id}
    brief = found[documents[0].external_id]
    millis = NOW.replace(microsecond=123000)
    assert brief.model_dump() == {
        "key": documents[0].key,
        "external_id": documents[0].external_id,
        "source": "s",
        "status": DocumentStatus.PENDING,
        "attempts": 2,
        "not_before": millis,
        "lease": "l",
        "heartbeat": millis,
        "updated_at": None,
        "settled": False,
        "committed": True,
        "outdated": False,
    }
    assert found[gone.external_id].status is DocumentStatus.DELETED
    assert found[empty.external_id].status is DocumentStatus.EMPTY
    statuses = [DocumentStatus.DELETED]
    assert [one.key for one in listing.briefs("s", statuses)] == [gone.key]
    both = {one.key for one in listing.briefs("s", statuses, unsettled=True)}
    assert both == {gone.key, documents[0].key}
