"""Which documents a run would read, told without touching anything."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import pytest

from resin_es.index.indexer import Indexer
from resin_es.index.indexer_settings import IndexSettings
from resin_es.model import Document, DocumentStatus, Guard, PassageRef, RegistryEntry
from resin_es.ports import StoredEntry
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted import ScriptedReader


class Registry:
    """Answers ``entries`` alone: any other call is an AttributeError."""

    def __init__(self, *entries: RegistryEntry) -> None:
        self._entries = {entry.key: entry for entry in entries}
        self.asked: list[int] = []

    def entries(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        self.asked.append(len(keys))
        return {
            key: StoredEntry(entry=self._entries[key], guard=Guard(seq_no=1, primary_term=1))
            for key in keys
            if key in self._entries
        }


def document(name: str, text: str = "It stands in Bonn.", **more: Any) -> Document:
    return Document(source="s", external_id=name, title=name, text=text, access=("staff",), **more)


def indexer(registry: Registry, **settings: Any) -> Indexer:
    return Indexer(
        registry,  # type: ignore[arg-type]
        HashEmbedder(),
        ScriptedReader(),
        IndexSettings(**settings),
    )


def committed(one: Document, pipeline: str, **changed: Any) -> RegistryEntry:
    fields: dict[str, Any] = {
        "key": one.key,
        "source": one.source,
        "external_id": one.external_id,
        "access": one.access,
        "status": DocumentStatus.INDEXED,
        "version": one.version,
        "committed_version": one.version,
        "pipeline": pipeline,
        "rights_hash": one.rights_hash,
        "passages": (
            PassageRef(id="p1", start=0, sentence_ids=("s1",)),
            PassageRef(id="p2", start=9, sentence_ids=("s2",), failed=True),
        ),
        "settled": True,
    }
    return RegistryEntry(**{**fields, **changed})


def test_only_what_has_to_be_read_comes_out_with_what_may_be_kept() -> None:
    pipeline = indexer(Registry()).pipeline
    same, new, changed, other, moved, held = map(document, "abcdef")
    before = document("c", "It stood in Berlin.")
    registry = Registry(
        committed(same, pipeline),
        committed(before, pipeline),
        committed(other, "another|pipeline"),
        committed(moved, pipeline, rights_hash="other rights"),
        committed(
            document("f", "Other text."),
            pipeline,
            status=DocumentStatus.WORKING,
            lease="somebody",
            heartbeat=datetime.now(timezone.utc),
        ),
    )
    surveyed = indexer(registry).survey([same, new, changed, other, moved, held])
    found = {one.external_id: previous for one, previous in surveyed}
    assert sorted(found) == ["b", "c", "d", "f"]
    assert found["b"] is None
    assert found["d"] is None, "another pipeline's passages are not kept"
    assert found["c"] is not None
    assert [ref.id for ref in found["c"].passages] == ["p1"], "failed passages are read again"


def test_it_asks_by_batch_and_tells_how_far_it_is() -> None:
    registry, told = Registry(), list[int]()
    documents = [document(str(number)) for number in range(5)]
    surveyed = indexer(registry, batch_documents=2).survey(iter(documents), seen=told.append)
    assert len(list(surveyed)) == 5
    assert registry.asked == [2, 2, 1]
    assert told == [2, 4, 5]


def test_nothing_is_asked_before_it_is_wanted() -> None:
    registry = Registry()
    surveyed = indexer(registry).survey([document("a")])
    assert not registry.asked
    next(iter(surveyed))
    assert registry.asked == [1]
    with pytest.raises(StopIteration):
        next(iter(surveyed))
