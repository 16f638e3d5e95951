"""What every UnitStore must do. Subclass it, and give it an empty ``store`` fixture.

::

    class TestMyStore(UnitStoreContract):
        @pytest.fixture
        def store(self) -> UnitStore: ...   # empty, for vectors of records.DIMS, small pages
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import pytest

from resin_es.errors import StoreConflict, StoreError, StoreRejected
from resin_es.index.filters import Filters, address_filter, document_filter
from resin_es.index.records import rights_fields
from resin_es.model import (
    Counts,
    DocumentStatus,
    Hop,
    Plan,
    Principal,
    RegistryEntry,
    StageError,
    Trace,
)
from resin_es.ports import AddressRecord, RecordRef, UnitStore
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


class RegistryContract:
    """The registry half."""

    def test_an_entry_is_read_before_any_refresh(self, store: UnitStore) -> None:
        one = sample().entry
        guard = store.put_entry(one, None)
        stored = store.entries([one.key, "0" * 32])
        assert set(stored) == {one.key}
        assert stored[one.key].entry == one
        assert stored[one.key].guard == guard

    def test_every_field_of_an_entry_survives(self, store: UnitStore) -> None:
        one = entry(
            "d1",
            status=DocumentStatus.FAILED,
            access=("blue", "red"),
            metadata={"topic": "bus", "deep": {"er": [1, 2.5, True, None]}, "dotted.key": "x"},
            version="v2",
            committed_version="v1",
            rights_hash="r",
            pipeline="p",
            title="T",
            text="Some text.",
            url="https://example.org/a",
            updated_at=NOW,
            language="en",
            counts=Counts(sentences=3, rejected={"no quote": 2}, cost=0.25),
            lease="host:1:abc",
            heartbeat=NOW,
            attempts=2,
            not_before=NOW,
            error=StageError(stage="units", type="ModelError", message="broke " * 9000),
            committed_at=NOW,
            settled=False,
        )
        store.put_entry(one, None)
        assert store.entries([one.key])[one.key].entry == one

    def test_creating_twice_is_a_conflict_and_changes_nothing(self, store: UnitStore) -> None:
        store.put_entry(entry("d1", title="first"), None)
        with pytest.raises(StoreConflict):
            store.put_entry(entry("d1", title="second"), None)
        (stored,) = store.entries([entry("d1").key]).values()
        assert stored.entry.title == "first"

    def test_a_stale_guard_is_a_conflict_and_changes_nothing(self, store: UnitStore) -> None:
        old = store.put_entry(entry("d1", title="a"), None)
        new = store.put_entry(entry("d1", title="b"), old)
        assert new != old
        with pytest.raises(StoreConflict):
            store.put_entry(entry("d1", title="c"), old)
        (stored,) = store.entries([entry("d1").key]).values()
        assert (stored.entry.title, stored.guard) == ("b", new)

    def test_a_batch_tells_who_lost_in_order(self, store: UnitStore) -> None:
        first = store.put_entry(entry("a"), None)
        guards = store.put_entries([(entry("b"), None), (entry("a"), None), (entry("a"), first)])
        assert [guard is None for guard in guards] == [False, True, False]
        assert store.entries([entry("b").key])[entry("b").key].guard == guards[0]

    def test_empty_requests_are_empty_answers(self, store: UnitStore) -> None:
        assert store.entries([]) == {}
        assert list(store.put_entries([])) == []
        assert list(store.records([])) == []
        assert store.purge([]) == 0
        assert store.write([], []).written == 0
        assert store.search([], None) == ([], None)
        assert store.cache_get([]) == {}
        fetched = store.fetch([], [])
        assert (fetched.passages, fetched.entries) == ({}, {})

    def test_a_scan_is_complete_over_many_pages(self, store: UnitStore) -> None:
        mine = [(entry(f"d{number}", title=f"t{number}"), None) for number in range(23)]
        guards = store.put_entries([*mine, (entry("x", source="other"), None)])
        store.refresh()
        scanned = {one.entry.external_id: one for one in store.scan_entries("files")}
        assert set(scanned) == {f"d{number}" for number in range(23)}
        assert scanned["d7"].guard == guards[7]
        assert scanned["d7"].entry.title == "t7"
        assert list(store.scan_entries("none")) == []

    def test_awkward_ids_and_metadata_are_taken_and_given_back(self, store: UnitStore) -> None:
        many = {f"key {number}": "v" * 40 for number in range(2000)}
        deep: dict[str, Any] = {"x": 1}
        for _ in range(19):
            deep = {"d": deep}
        one = sample(
            "a/б/🚌 " * 100,
            metadata={
                **many,
                "long": "w" * 40_000,
                "": "no name",
                ".": "dot",
                "a..b": 1,
                "nul\x00key": 1,
                "k" * 33_000: "long key",
                "deep": deep,
                "deeper": {"d": deep},
                "mixed": [1, "two", {"three": 3}, None],
            },
        )
        assert len(one.entry.external_id) >= 600
        store_samples(store, one)
        (stored,) = store.entries([one.entry.key]).values()
        assert stored.entry == one.entry
        named = Filters(document_ids=(one.entry.external_id,), metadata={"key 1999": ("v" * 40,)})
        assert found(store, 0, address_filter(NOBODY, named)) == {one.entry.external_id}
        assert "key 1999" in store.metadata_keys(NOBODY, ())


class EvidenceContract:
    """Units, sentences and passages."""

    def test_records_tell_family_document_and_passage(self, store: UnitStore) -> None:
        one, other = sample("d1"), sample("d2")
        store_samples(store, one, other)
        refs = {ref.id: ref for ref in store.records([one.entry.key])}
        assert {(ref.id, ref.family, ref.passage_id) for ref in refs.values()} == {
            (one.unit.id, "units", one.passage.id),
            *((sentence.id, "sentences", one.passage.id) for sentence in one.sentences),
            (one.passage.id, "passages", ""),
        }
        assert {ref.document_key for ref in refs.values()} == {one.entry.key}

    def test_records_come_from_many_pages_and_documents(self, store: UnitStore) -> None:
        samples = [sample(f"d{number}") for number in range(9)]
        store_samples(store, *samples)
        refs = list(store.records([one.entry.key for one in samples]))
        assert len(refs) == len({ref.id for ref in refs}) == 9 * 4

    def test_a_purge_spares_what_was_rewritten(self, store: UnitStore) -> None:
        one = sample()
        store_samples(store, one)
        refs = list(store.records([one.entry.key]))
        store.write(one.addresses[:1], [])
        assert store.purge(refs) == 3
        assert store.purge(refs) == 0
        store.refresh()
        assert [ref.id for ref in store.records([one.entry.key])] == [one.unit.id]

    def test_writing_twice_makes_no_second_record(self, store: UnitStore) -> None:
        one = sample()
        store.write(one.addresses, one.passages)
        report = store.write(one.addresses, one.passages)
        assert report.written == 4
        store.refresh()
        assert len(list(store.records([one.entry.key]))) == 4

    def test_a_rejected_item_is_told_with_its_reason(self, store: UnitStore) -> None:
        one = sample()
        good, *rest = one.addresses
        broken = AddressRecord(id="broken", kind=good.kind, body={**good.body, "vector": [1.0]})
        with pytest.raises(StoreRejected) as told:
            store.write([broken, good, *rest], one.passages)
        assert list(told.value.reasons.values()) == [1]
        assert "dim" in next(iter(told.value.reasons))
        store.refresh()
        assert len(list(store.records([one.entry.key]))) == 4

    def test_an_unknown_field_is_rejected(self, store: UnitStore) -> None:
        (passage,) = sample().passages
        stray = AddressRecord(id="s", kind=passage.kind, body={**passage.body, "colour": "red"})
        with pytest.raises(StoreRejected, match="colour"):
            store.write([], [stray])

    def test_new_rights_reach_every_record_and_keep_the_vector(self, store: UnitStore) -> None:
        old = {"topic": "bus", "gone": "yes", "deep": {"a": 1, "b": 2}}
        one = sample("d1", access=("red",), metadata=old)
        other = sample("d2", access=("red",))
        store_samples(store, one, other)
        new = one.entry.model_copy(
            update={"access": ("blue",), "metadata": {"topic": "tram", "deep": {"b": 3}}}
        )
        report = store.update_rights([new.key], {new.key: rights_fields(new)})
        assert report.written == 4
        assert found(store, 0, address_filter(RED)) == {"d2"}
        blue = Principal(groups=frozenset({"blue"}))
        assert found(store, 0, address_filter(blue)) == {"d1"}
        (answer,), _ = store.search([dense_body(0, address_filter(blue))], None)
        dense = [hit for hit in answer.hits if hit.score > 50]
        assert len(dense) == 3, "a hit near the vector, for each address"
        for key, value, kept in (
            ("topic", "tram", True),
            ("topic", "bus", False),
            ("gone", "yes", False),
            ("deep.a", "1", False),
            ("deep.b", "3", True),
        ):
            clauses = address_filter(blue, Filters(metadata={key: (value,)}))
            assert bool(found(store, 0, clauses)) is kept, (key, value)
        assert store.fetch([one.passage.id], []).passages[one.passage.id]["access"] == ["blue"]

    def test_emptied_metadata_matches_no_more(self, store: UnitStore) -> None:
        one = sample("d1", metadata={"topic": "bus"})
        store_samples(store, one)
        new = one.entry.model_copy(update={"metadata": {}})
        store.update_rights([new.key], {new.key: rights_fields(new)})
        clauses = address_filter(NOBODY, Filters(metadata={"topic": ("bus",)}))
        assert found(store, 0, clauses) == set()

    def test_rights_reach_a_record_that_was_written_just_now(self, store: UnitStore) -> None:
        one = sample("d1", access=("red",))
        store.write(one.addresses, one.passages)
        new = one.entry.model_copy(update={"access": ("blue",)})
        assert store.update_rights([new.key], {new.key: rights_fields(new)}).written == 4
        assert found(store, 0, address_filter(RED)) == set()


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
        values = {f"k{number}": str(number).encode() for number in range(1500)}
        store.cache_put(values)
        assert store.cache_get(list(values)) == values


class UnitStoreContract(RegistryContract, EvidenceContract, SearchContract, KeepContract):
    """All of it."""


__all__ = ["RecordRef", "UnitStoreContract"]
