from __future__ import annotations

import pytest

from resin_es.model import DocumentStatus, Principal
from resin_es.query.fence import fence
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore

BOARD = Principal(groups=frozenset({"board"}))


def fenced(store: ScriptedStore, document: ScriptedDocument, principal: Principal):  # type: ignore[no-untyped-def]
    ids = [passage.id for passage in document.passages]
    wanted = [(passage_id, document.key) for passage_id in ids]
    return fence(store.fetch(ids, [document.key]), wanted, principal)


def test_offsets_are_those_of_the_document(store: ScriptedStore, bus: ScriptedDocument) -> None:
    found = fenced(store, bus, Principal())
    sentences = [s for p in bus.passages for s in found.sources[p.id].sentences]
    assert len(sentences) == 4
    for sentence in sentences:
        assert bus.text[sentence.start : sentence.end] == sentence.text


def test_a_passage_the_registry_no_longer_lists_is_stale(
    store: ScriptedStore, bus: ScriptedDocument
) -> None:
    store.change(bus.key, passages=bus.entry.passages[1:])
    found = fenced(store, bus, Principal())
    assert set(found.sources) == {bus.passages[1].id}
    assert found.stale == {bus.passages[0].id}


def test_a_listed_passage_that_is_not_stored_is_stale(
    store: ScriptedStore, bus: ScriptedDocument
) -> None:
    del store.passages_now[bus.passages[0].id]
    assert fenced(store, bus, Principal()).stale == {bus.passages[0].id}


def test_rights_are_those_of_the_registry(store: ScriptedStore, secret: ScriptedDocument) -> None:
    refused = fenced(store, secret, Principal())
    assert not refused.sources
    assert not refused.stale
    assert fenced(store, secret, BOARD).sources
    assert fenced(store, secret, Principal(admin=True)).sources


@pytest.mark.parametrize("status", [DocumentStatus.DELETED, DocumentStatus.EMPTY])
def test_states_without_evidence(
    store: ScriptedStore, bus: ScriptedDocument, status: DocumentStatus
) -> None:
    store.change(bus.key, status=status)
    assert not fenced(store, bus, Principal(admin=True)).sources


@pytest.mark.parametrize("status", [DocumentStatus.WORKING, DocumentStatus.FAILED])
def test_the_last_committed_version_stands_while_a_new_one_is_read(
    store: ScriptedStore, bus: ScriptedDocument, status: DocumentStatus
) -> None:
    store.change(bus.key, status=status)
    assert len(fenced(store, bus, Principal()).sources) == 2


def test_a_vanished_entry_withholds(store: ScriptedStore, bus: ScriptedDocument) -> None:
    store.remove(bus.key)
    found = fenced(store, bus, Principal(admin=True))
    assert not found.sources
    assert found.withheld == {p.id for p in bus.passages}


def test_a_passage_of_another_document_does_not_count(
    store: ScriptedStore, bus: ScriptedDocument, metro: ScriptedDocument
) -> None:
    ids = [metro.passages[0].id]
    found = fence(store.fetch(ids, [bus.key]), [(ids[0], bus.key)], Principal())
    assert not found.sources
