"""The store contract on a real Elasticsearch, and what only this adapter can get wrong."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from resin_es.adapters.elasticsearch import ElasticsearchStore, install, uninstall
from resin_es.errors import (
    IndexMismatch,
    StoreError,
    StoreNotInstalled,
    StoreRejected,
    StoreUnavailable,
)
from resin_es.index.filters import address_filter
from resin_es.index.settings import StoreSettings
from resin_es.model import Hop, Plan, Principal, Trace
from resin_es.ports import ModelIdentity, UnitStore
from resin_es.query.hop import hop_body
from resin_es.query.settings import QuerySettings
from resin_es.testing.records import DIMS, entry, sample, vector
from resin_es.testing.store_contract import UnitStoreContract

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MODEL = ModelIdentity(name="fake", dims=DIMS)
EMBEDDER: Any = SimpleNamespace(identity=MODEL)


def settings(prefix: str) -> StoreSettings:
    """Small pages and batches, so that every loop goes round."""
    return StoreSettings(prefix=prefix, page=5, bulk_items=7, retries=1, backoff=0.01)


@pytest.fixture(scope="module")
def installed(es: Elasticsearch) -> Iterator[ElasticsearchStore]:
    """Laying out nine indices takes longer than any test here, so all share them."""
    chosen = settings(f"t-{uuid.uuid4().hex[:10]}")
    install(es, chosen, MODEL)
    yield ElasticsearchStore(es, chosen)
    uninstall(es, chosen)


@pytest.fixture
def store(es: Elasticsearch, installed: ElasticsearchStore) -> ElasticsearchStore:
    """Emptied of what the test before left."""
    aliases = installed.names.aliases()
    es.indices.refresh(index=aliases)
    left = es.search(index=aliases, size=10_000, source=False).body["hits"]["hits"]
    operations = [{"delete": {"_index": hit["_index"], "_id": hit["_id"]}} for hit in left]
    if operations:
        es.bulk(operations=operations, refresh=True)
    return installed


class TestElasticsearchStore(UnitStoreContract):
    """Index templates, as a full install lays them out."""


class TestOnlyHere:
    def test_it_is_a_unit_store(self, store: ElasticsearchStore) -> None:
        assert isinstance(store, UnitStore)

    def test_check_names_what_the_index_has_and_what_is_asked(
        self, store: ElasticsearchStore
    ) -> None:
        store.check(MODEL)
        with pytest.raises(IndexMismatch, match=r"model fake, dims 4.*model other, dims 8"):
            store.check(ModelIdentity(name="other", dims=8))

    def test_not_installed(self, es: Elasticsearch, prefix: str) -> None:
        bare = ElasticsearchStore(es, settings(prefix))
        with pytest.raises(StoreNotInstalled):
            bare.check(MODEL)
        with pytest.raises(StoreNotInstalled):
            bare.entries(["k"])
        with pytest.raises(StoreNotInstalled):
            bare.put_entry(entry(), None)
        with pytest.raises(StoreNotInstalled):
            bare.write(sample().addresses, [])
        with pytest.raises(StoreNotInstalled):
            bare.search([{"query": {"match_all": {}}}], None)
        with pytest.raises(StoreNotInstalled):
            list(bare.scan_entries("files"))
        assert not list(es.indices.get(index=f"{prefix}*")), "a write must not make an index"

    def test_an_alias_on_two_indices_is_refused(
        self, es: Elasticsearch, store: ElasticsearchStore
    ) -> None:
        second = store.names.concrete("documents", 2)
        es.indices.create(index=second, aliases={store.names.alias("documents"): {}})
        try:
            with pytest.raises(IndexMismatch):
                store.entries(["k"])
            with pytest.raises(IndexMismatch):
                store.check(MODEL)
        finally:
            es.indices.delete(index=second)

    def test_an_expired_point_in_time_is_an_error(
        self, es: Elasticsearch, store: ElasticsearchStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.put_entries([(entry(f"d{number}"), None) for number in range(12)])
        store.refresh()
        opened: list[str] = []
        original = type(es).open_point_in_time

        def remember(client: Elasticsearch, **arguments: object) -> object:
            answer = original(client, **arguments)  # type: ignore[arg-type]
            opened.append(answer["id"])
            return answer

        monkeypatch.setattr(type(es), "open_point_in_time", remember)
        scanning = store.scan_entries("files")
        next(scanning)
        es.close_point_in_time(id=opened[0])
        with pytest.raises(StoreError):
            list(scanning)

    def test_a_pinned_search_brings_the_same_in_place(self, store: ElasticsearchStore) -> None:
        one = sample("d/1 é", subject="Long " * 3000, direction=1)
        store.write(one.addresses, one.passages)
        store.put_entry(one.entry, None)
        new = {one.entry.key: {"title": "A new title"}}
        store.update_rights([one.entry.key], new)
        held, _ = store.pinned(EMBEDDER)
        body = hop_body("night", vector(1), address_filter(Principal(admin=True)), QuerySettings())
        (plain,), _ = store.search([body], None)
        (packed,), _ = held.search([body], None)
        assert plain.hits == tuple(
            hit._replace(source={k: v for k, v in hit.source.items() if k != "_id"})
            for hit in packed.hits
        )
        assert len(plain.hits) == 3
        assert {hit.source["title"] for hit in packed.hits} == {"A new title"}
        assert set(packed.hits[0].parts) >= {"dense"}

    def test_a_record_of_an_older_version_is_read_by_its_source(
        self, es: Elasticsearch, store: ElasticsearchStore
    ) -> None:
        one = sample("d1", direction=1)
        store.write(one.addresses, one.passages)
        for index, record in (("units", one.addresses[0]), ("sentences", one.addresses[1])):
            es.index(index=store.names.alias(index), id=record.id, document=record.body)
        store.refresh()
        held, _ = store.pinned(EMBEDDER)
        body = hop_body("night", vector(1), address_filter(Principal(admin=True)), QuerySettings())
        (found,), _ = held.search([body], None)
        assert {hit.id for hit in found.hits} == {record.id for record in one.addresses}
        assert all(hit.source["statement"] for hit in found.hits)

    def test_a_long_value_leaves_the_record_findable(self, store: ElasticsearchStore) -> None:
        one = sample(subject="long " * 8000)
        store.write(one.addresses, one.passages)
        store.refresh()
        assert len(list(store.records([one.entry.key]))) == 4

    def test_a_zero_vector_is_rejected_by_name(self, store: ElasticsearchStore) -> None:
        (unit, *_) = sample().addresses
        zero = unit.model_copy(update={"body": {**unit.body, "vector": [0.0] * DIMS}})
        with pytest.raises(StoreRejected, match="zero magnitude"):
            store.write([zero], [])

    def test_old_traces_go_and_new_ones_stay(
        self, es: Elasticsearch, store: ElasticsearchStore
    ) -> None:
        plan = Plan(question="q", hops=(Hop(id="h1", subquestion="s"),))
        for day in range(1, 9):
            made = datetime(2024, 5, day, tzinfo=timezone.utc)
            store.put_trace(Trace(id=f"t{day}", created_at=made, question="q", plan=plan))
        es.indices.refresh(index=store.names.alias("traces"))
        assert store.purge_traces(datetime(2024, 5, 8, tzinfo=timezone.utc)) == 7
        assert store.get_trace("t7") is None
        assert store.get_trace("t8") is not None

    def test_nothing_listens(self) -> None:
        from elasticsearch import Elasticsearch

        client = Elasticsearch("http://127.0.0.1:9", max_retries=0)
        dead = ElasticsearchStore(client, settings("none"))
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9"):
            dead.check(MODEL)
        with pytest.raises(StoreUnavailable):
            dead.write(sample().addresses, [])
