"""What every UnitStore must do. Subclass it, and give it an empty ``store`` fixture.

::

    class TestMyStore(UnitStoreContract):
        @pytest.fixture
        def store(self) -> UnitStore: ...   # empty, for vectors of records.DIMS, small pages
"""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.errors import StoreConflict, StoreRejected
from resin_es.index.filters import Filters, address_filter
from resin_es.index.records import rights_fields
from resin_es.model import (
    Counts,
    DocumentStatus,
    Principal,
    StageError,
)
from resin_es.ports import AddressRecord, UnitStore
from resin_es.testing.records import entry, sample
from resin_es.testing.store_contract_reads import (
    NOBODY,
    NOW,
    RED,
    KeepContract,
    SearchContract,
    dense_body,
    found,
    store_samples,
)


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

    def test_new_rights_are_kept_from_what_somebody_else_took_over(self, store: UnitStore) -> None:
        """With guards: not once the entry has changed, and not over a record that was written
        after the look."""
        one, other = sample("d1", access=("red",)), sample("d2", access=("red",))
        store_samples(store, one, other)
        fields = {
            each.entry.key: rights_fields(each.entry.model_copy(update={"access": ("blue",)}))
            for each in (one, other)
        }
        stored = store.entries(list(fields))
        guards = {key: held.guard for key, held in stored.items()}
        taken = stored[other.entry.key]
        store.put_entry(taken.entry.model_copy(update={"attempts": 1}), taken.guard)
        report = store.update_rights(list(fields), fields, guards=guards)
        assert report.written == 4
        blue = Principal(groups=frozenset({"blue"}))
        assert found(store, 0, address_filter(blue)) == {"d1"}
        assert found(store, 0, address_filter(RED)) == {"d2"}

    def test_records_are_counted_by_document(self, store: UnitStore) -> None:
        one, other = sample("d1"), sample("d2")
        store_samples(store, one, other)
        counted = dict(store.record_counts())
        assert counted[one.entry.key] == counted[other.entry.key] == 4
        store.purge(ref for ref in store.records([one.entry.key]) if ref.family == "units")
        store.refresh()
        counted = dict(store.record_counts())
        assert (counted[one.entry.key], counted[other.entry.key]) == (3, 4)


class UnitStoreContract(RegistryContract, EvidenceContract, SearchContract, KeepContract):
    """All of it."""
