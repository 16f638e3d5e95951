"""Statements written anew from stored units; what a registry entry lists; models by _meta."""

from __future__ import annotations

from typing import Any

import pytest

from resin_es.errors import IndexMismatch, StoreError
from resin_es.extract.statement import statement
from resin_es.index.embedders import EmbedderBook
from resin_es.index.rebuilding import listed, passage_of, restated
from resin_es.index.records import PASSAGES, SENTENCES, UNITS, passage_record, unit_record
from resin_es.model import (
    CausalEdge,
    EntityFact,
    EntityType,
    Modality,
    Polarity,
    Relation,
    Rule,
    TypeProperty,
)
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.records import sample

ONE = sample(metadata={"topic": "bus"}, access=("red",))
SHARED: dict[str, Any] = {
    "subject": "It",
    "entity_type": "tram",
    "predicate": "p",
    "aliases": ("T7",),
    "modality": Modality.POSSIBLE,
    "polarity": Polarity.NEGATIVE,
    "scope": "at night",
    "confidence": 0.5,
}
FACT: dict[str, Any] = {"surface_predicate": "takes", "object": "ten minutes"}


@pytest.mark.parametrize(
    "claim",
    [
        EntityFact(**SHARED, **FACT, conditions=("if it rains",)),
        TypeProperty(**SHARED, **FACT),
        EntityType(**SHARED, object="line"),
        Relation(**SHARED, **FACT),
        CausalEdge(**SHARED, source_state="rain falls", target_state="trams are late"),
        Rule(**SHARED, conditions=("it rains", "it is dark"), conclusion="it waits"),
    ],
    ids=lambda claim: claim.kind,
)
def test_a_stored_unit_is_worded_as_a_new_one(claim: Any) -> None:
    unit = ONE.unit.model_copy(update={"claim": claim})
    stored = dict(unit_record(unit, ONE.entry, [0.0]).body)
    stored.pop("vector")
    stored["metadata"] = [stored["metadata"]]  # as a change of rights leaves it
    passage = passage_record(ONE.passage, ONE.entry).body
    assert restated(unit.id, stored, passage) == statement(claim, ONE.passage)


def test_a_unit_whose_passage_went_keeps_its_words() -> None:
    stored = unit_record(ONE.unit, ONE.entry, [0.0]).body
    assert restated("u", stored, None) == ONE.unit.statement


def test_a_unit_of_an_unknown_kind_is_named() -> None:
    stored = {**unit_record(ONE.unit, ONE.entry, [0.0]).body, "kind": "riddle"}
    with pytest.raises(StoreError, match="unit u-1 cannot be read"):
        restated("u-1", stored, passage_record(ONE.passage, ONE.entry).body)


def test_what_an_entry_lists() -> None:
    passage, sentence = ONE.passage.id, ONE.sentences[0].id
    assert listed(ONE.entry, PASSAGES, passage, "")
    assert listed(ONE.entry, SENTENCES, sentence, "whatever")
    assert listed(ONE.entry, UNITS, "any", passage)
    assert not listed(ONE.entry, PASSAGES, sentence, passage)
    assert not listed(ONE.entry, SENTENCES, passage, passage)
    assert not listed(ONE.entry, UNITS, passage, "another")
    assert not listed(None, PASSAGES, passage, "")
    assert passage_of(ONE.entry, sentence) == passage
    assert passage_of(ONE.entry, "another") == ""


class TestEmbedderBook:
    OWN, OTHER = HashEmbedder(8), HashEmbedder(16)

    def book(self, makes: HashEmbedder) -> tuple[EmbedderBook, list[Any]]:
        asked: list[Any] = []

        def make(spec: Any) -> HashEmbedder:
            asked.append(spec)
            return makes

        return EmbedderBook(lambda: self.OWN, make), asked

    def meta(self, model: HashEmbedder, **more: Any) -> dict[str, Any]:
        return {"model": model.identity.name, "dims": model.identity.dims, **more}

    def test_the_own_model_needs_no_loading(self) -> None:
        book, asked = self.book(self.OTHER)
        assert book.embedder(self.meta(self.OWN)) is self.OWN
        assert asked == []

    def test_another_one_is_loaded_once_as_the_index_says(self) -> None:
        book, asked = self.book(self.OTHER)
        meta = self.meta(self.OTHER, embedder={"kind": "k"})
        assert book.embedder(meta) is book.embedder(meta) is self.OTHER
        assert asked == [{"kind": "k"}]

    def test_an_index_that_does_not_say_how_is_refused(self) -> None:
        book, _ = self.book(self.OTHER)
        with pytest.raises(IndexMismatch, match="hash-16, 16 dims, and does not say how"):
            book.embedder(self.meta(self.OTHER))

    def test_what_is_loaded_must_be_what_built_the_index(self) -> None:
        book, _ = self.book(HashEmbedder(16, name="impostor"))
        with pytest.raises(IndexMismatch, match="impostor-16"):
            book.embedder(self.meta(self.OTHER, embedder={}))
