"""The reading half of the store contract, and what both halves share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import pytest

from resin_es.errors import StoreError
from resin_es.index.filters import Filters, address_filter, document_filter
from resin_es.model import (
    DocumentStatus,
    Hop,
    Plan,
    Principal,
    RegistryEntry,
    Trace,
)
from resin_es.ports import UnitStore
from resin_es.testing.records import Sample, entry, sample, vector

ADMIN = Principal(admin=True)
NOBODY = Principal()
RED = Principal(groups=frozenset({"red"}))
NOW = datetime(2024, 5, 1, 12, tzinfo=timezone.utc)


def store_samples(store: UnitStore, *samples: Sample) -> None:
    """Write samples with their entries, and refresh."""
    store.write(
        [one for s in samples for one in s.addresses], [one for s in samples for one in s.passages]
    )
    assert None not in store.put_entries([(s.entry, None) for s in samples])
    store.refresh()


def dense_body(direction: int, clauses: Sequence[Mapping[str, Any]], k: int = 10) -> dict[str, Any]:
    """Hits near a direction, and hits of the word ``night``; two named parts."""
    return {
        "knn": {
            "field": "vector",
            "query_vector": vector(direction),
            "k": k,
            "num_candidates": 100,
            "filter": list(clauses),
            "boost": 100,
            "_name": "dense",
        },
        "query": {
            "bool": {
                "filter": list(clauses),
                "must": [{"match": {"statement": {"query": "night", "_name": "lexical"}}}],
            }
        },
        "size": 50,
        "_source": ["document_id", "kind", "metadata"],
    }


def found(store: UnitStore, direction: int, clauses: Sequence[Mapping[str, Any]]) -> set[str]:
    """Document ids of an address search's hits."""
    (answer,), _ = store.search([dense_body(direction, clauses)], None)
    return {hit.source["document_id"] for hit in answer.hits}


class SearchContract:
    """Searches, fetches and counts."""

    def test_both_families_and_both_parts_are_found_in_one_search(self, store: UnitStore) -> None:
        near, far = sample("near", direction=1), sample("far", direction=2)
        store_samples(store, near, far)
        (answer,), documents = store.search([dense_body(1, address_filter(NOBODY), k=3)], None)
        assert documents is None
        by_id = {hit.id: hit for hit in answer.hits}
        assert near.unit.id in by_id
        assert {one.id for one in near.sentences} <= set(by_id)
        night = by_id[near.sentences[1].id]
        assert set(night.parts) == {"dense", "lexical"}
        assert night.parts["dense"] + night.parts["lexical"] == pytest.approx(night.score, rel=1e-5)
        assert set(by_id[far.sentences[1].id].parts) == {"lexical"}
        assert "vector" not in night.source

    def test_searches_come_back_in_order_with_the_documents_last(self, store: UnitStore) -> None:
        one = sample("d1", subject="Ferry", direction=1, access=("red",))
        other = sample("d2", subject="Tram", direction=2)
        store_samples(store, one, other)
        clauses = address_filter(RED)
        asked = {
            "query": {
                "bool": {"filter": document_filter(RED), "must": [{"match": {"text": "ferry"}}]}
            },
            "_source": False,
        }
        answers, documents = store.search(
            [dense_body(1, clauses, k=1), dense_body(2, clauses, k=1)], asked
        )
        first, second = ({hit.source["document_id"] for hit in one.hits[:1]} for one in answers)
        assert (first, second) == ({"d1"}, {"d2"})
        assert documents is not None
        assert [hit.id for hit in documents.hits] == [one.entry.key]

    def test_access_denies_by_default(self, store: UnitStore) -> None:
        open_, red, closed = sample("open"), sample("red", access=("red",)), sample("no", access=())
        store_samples(store, open_, red, closed)
        assert found(store, 0, address_filter(NOBODY)) == {"open"}
        assert found(store, 0, address_filter(RED)) == {"open", "red"}
        assert found(store, 0, address_filter(ADMIN)) == {"open", "red", "no"}

    @pytest.mark.parametrize(
        ("filters", "matches"),
        [
            (Filters(sources=("files",)), True),
            (Filters(sources=("other",)), False),
            (Filters(kinds=("entity-fact",)), True),
            (Filters(kinds=("rule",)), False),
            (Filters(kinds=("sentence",)), True),
            (Filters(entities=("line 7",)), True),
            (Filters(entities=("TEN MINUTES",)), True),
            (Filters(entities=("Line",)), False),
            (Filters(min_confidence=0.5), True),
            (Filters(modalities=("asserted",)), True),
            (Filters(modalities=("possible",)), False),
            (Filters(polarities=("negative",)), False),
            (Filters(predicates=("Takes",)), True),
            (Filters(metadata={"year": ("2020",)}), True),
            (Filters(metadata={"year": ("2021",)}), False),
            (Filters(metadata={"tags": ("b", "z")}), True),
            (Filters(metadata={"tags": ("a",), "year": ("1999",)}), False),
        ],
    )
    def test_filters_narrow(self, store: UnitStore, filters: Filters, matches: bool) -> None:
        store_samples(store, sample("d1", metadata={"year": 2020, "tags": ["a", "b"]}))
        assert bool(found(store, 0, address_filter(NOBODY, filters))) is matches

    def test_a_broken_search_is_an_error_that_names_it(self, store: UnitStore) -> None:
        good = dense_body(0, address_filter(NOBODY))
        with pytest.raises(StoreError, match="search 2 of 2"):
            store.search([good, {**good, "sort": [{"statement": "asc"}]}], None)
        with pytest.raises(StoreError, match="documents"):
            store.search([good], {"sort": [{"text": "asc"}]})
        with pytest.raises(StoreError, match="no_such_query"):
            store.search([good, {"query": {"no_such_query": {}}}], None)

    def test_evidence_is_fetched_before_any_refresh(self, store: UnitStore) -> None:
        one = sample()
        store.write(one.addresses, one.passages)
        store.put_entry(one.entry, None)
        fetched = store.fetch([one.passage.id, "f" * 32], [one.entry.key, "e" * 32])
        assert set(fetched.passages) == {one.passage.id}
        assert fetched.passages[one.passage.id]["text"] == one.passage.text
        assert fetched.entries[one.entry.key].passages == one.entry.passages

    def test_coverage_counts_what_the_asker_may_read(self, store: UnitStore) -> None:
        put: list[RegistryEntry] = [
            entry("a"),
            entry("b", access=("red",)),
            entry("c", access=("red",), status=DocumentStatus.FAILED),
            entry("d", status=DocumentStatus.DELETED),
            entry("e", source="other", access=("red",)),
            entry("f", source="hidden", access=()),
        ]
        store.put_entries([(one, None) for one in put])
        store.refresh()
        covered = {one.source: one for one in store.coverage(RED, ())}
        assert set(covered) == {"files", "other"}
        assert covered["files"].documents == 3
        assert covered["files"].by_status == {"indexed": 2, "failed": 1}
        assert [one.source for one in store.coverage(RED, ("other",))] == ["other"]
        assert [one.documents for one in store.coverage(NOBODY, ())] == [1]
        assert {one.source for one in store.coverage(ADMIN, ())} == {"files", "other", "hidden"}

    def test_metadata_keys_of_readable_documents_only(self, store: UnitStore) -> None:
        store.put_entries(
            [
                (entry("a", metadata={"topic": "x", "deep": {"er": 1}}), None),
                (entry("b", access=("red",), metadata={"secret": 1}), None),
                (entry("c", source="other", metadata={"else": 1}), None),
                (entry("d", status=DocumentStatus.DELETED, metadata={"buried": 1}), None),
            ]
        )
        store.refresh()
        assert store.metadata_keys(NOBODY, ("files",)) == {"topic", "deep.er"}
        assert store.metadata_keys(RED, ()) == {"topic", "deep.er", "secret", "else"}

    def test_kind_counts(self, store: UnitStore) -> None:
        store_samples(store, sample("a"), sample("b", access=("red",)), sample("c", source="other"))
        assert store.kind_counts(RED, ("files",)) == {"entity-fact": 2, "sentence": 4}
        assert store.kind_counts(NOBODY, ()) == {"entity-fact": 2, "sentence": 4}
        assert store.kind_counts(NOBODY, ("nothing",)) == {}


class KeepContract:
    """Traces and the cache."""

    def test_a_trace_survives_whole(self, store: UnitStore) -> None:
        trace = Trace(
            id="t1",
            created_at=NOW,
            question="How long? " * 2000,
            groups=("red",),
            plan=Plan(question="q", hops=(Hop(id="h1", subquestion="s"),)),
            document_body={"query": {"term": {"metadata.a": "x"}, "": {}}},
            document_hits=(("k1", 1.5), ("k2", 0.5)),
            settings={"k": 10, "nested": {"a.b": [1, "x"]}},
            missing=("something",),
        )
        store.put_trace(trace)
        assert store.get_trace("t1") == trace
        assert store.get_trace("t2") is None

    def test_the_cache_gives_back_bytes(self, store: UnitStore) -> None:
        values = {"a": b"", "key " * 500: bytes(range(256)), "ü🚌": b"\x00" * 10_000}
        store.cache_put(values)
        assert store.cache_get([*values, "missing"]) == values
        store.cache_put({"a": b"new"})
        assert store.cache_get(["a"]) == {"a": b"new"}

    def test_the_cache_takes_many_keys(self, store: UnitStore) -> None:
        values = {f"k{number}": str(number).encode() for number in range(1001)}
        store.cache_put(values)
        assert store.cache_get(list(values)) == values
