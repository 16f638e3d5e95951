"""Rows of a run share one look at the indices, and each encoder's vectors, but not another's."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import pytest

from resin_es.evaluation.systems.remembered import (
    Remembered,
    RememberingEmbedder,
    RememberingStore,
)
from resin_es.evaluation.systems.resin import VARIANTS, ResinSystem
from resin_es.model import Principal
from resin_es.ports import Embedder, GenerationalStore, ModelIdentity, MultilingualStore
from resin_es.query.compose import ExtractiveComposer
from resin_es.query.planner import RulePlanner
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore

ANYONE, STAFF = Principal(), Principal(groups=frozenset({"staff"}))
QUESTION = "What is the fare of Bus 14?"
ROWS = [one for one in VARIANTS if one.name in ("resin", "k=5", "no-bridging")]


class Encoder(HashEmbedder):
    def __init__(self, dims: int, name: str) -> None:
        super().__init__(dims, name=name)
        self.asked: list[list[str]] = []

    def embed_queries(self, texts: Sequence[str]) -> Any:
        self.asked.append(list(texts))
        return super().embed_queries(texts)


class Store(ScriptedStore):
    """Of one generation, with second vectors for the staff."""

    generation = ""
    other: Embedder | None = None

    def counted(self) -> Store:
        self.pins: list[ModelIdentity] = []
        self.looks: list[tuple[str, Principal]] = []
        self.second = Encoder(16, "second")
        return self

    def pinned(self, embedder: Embedder) -> tuple[Any, Embedder]:
        self.pins.append(embedder.identity)
        held = copy(self)
        held.generation = "v1"
        return held, self.other or embedder

    def second_encoder(self, principal: Principal) -> Embedder | None:
        self.looks.append((self.generation, principal))
        return self.second if "staff" in principal.groups else None


@pytest.fixture
def store() -> Store:
    bus = ScriptedDocument("bus", [["The fare of Bus 14 is 3 crowns."]], title="Bus 14")
    return Store([bus], [bus.hit(0, 0, multilingual=0.9)]).counted()


def shared(store: Any, memory: Remembered) -> Any:
    return RememberingStore(store, memory)


def test_a_remembering_store_is_what_the_store_is(store: Store) -> None:
    memory = Remembered()
    assert isinstance(shared(store, memory), MultilingualStore)
    assert isinstance(shared(store, memory), GenerationalStore)
    plain = ScriptedStore()
    native = HashEmbedder(8)
    held, model = shared(plain, memory).pinned(native)
    assert model is native
    assert plain.checked == [native.identity]
    assert held.second_encoder(STAFF) is None


def test_the_indices_are_looked_at_once_a_run(store: Store) -> None:
    memory = Remembered()
    for time in range(3):
        held, model = shared(store, memory).pinned(HashEmbedder(8))
        assert model.identity.name == "hash-8"
        assert held.generation == "v1"
        assert held.second_encoder(STAFF).identity.name == "second-16"
        assert held.second_encoder(ANYONE) is None
        assert (memory.lent() > 0) is (time > 0), "each is charged for what it did not ask itself"
        memory.forget()
    assert store.pins == [HashEmbedder(8).identity]
    assert store.looks == [("v1", STAFF), ("v1", ANYONE)], "one a principal, of the pinned store"
    shared(store, memory).pinned(HashEmbedder(4))
    assert len(store.pins) == 2, "another model is another look"


def test_rows_of_a_question_ask_each_encoder_once(store: Store) -> None:
    memory, native = Remembered(), Encoder(8, "native")
    for row in ROWS:
        system = ResinSystem(
            row, shared(store, memory), native, RulePlanner(), ExtractiveComposer(),
            QuerySettings(), STAFF, (), memory,
        )  # fmt: skip
        trace = system.evidence(QUESTION, 500).trace
        assert trace is not None
        assert trace.models["multilingual"] == "second-16"
    assert native.asked == store.second.asked == [[QUESTION]]
    sizes = {len(one["query_vector"]) for bodies, _ in store.searches for one in bodies[0]["knn"]}
    assert sizes == {8, 16}


def test_a_model_that_the_indices_name_is_remembered_as_well(store: Store) -> None:
    other = store.other = Encoder(32, "other")
    memory = Remembered()
    for _ in range(2):
        _, model = shared(store, memory).pinned(RememberingEmbedder(HashEmbedder(8), memory))
        model.embed_queries(["a"])
    assert other.asked == [["a"]]


class Ones:
    """Has its number everywhere."""

    def __init__(self, number: int, name: str = "") -> None:
        self.number, self.identity = number, ModelIdentity(name=name or str(number), dims=2)

    def embed(self, texts: Sequence[str]) -> Any:
        return np.full((len(texts), 2), self.number, dtype=np.float32)

    embed_queries = embed


@pytest.mark.parametrize("method", ["embed", "embed_queries"])
def test_encoders_of_different_names_do_not_share_vectors(method: str) -> None:
    memory = Remembered()

    def told(number: int, name: str = "") -> set[float]:
        encoder = RememberingEmbedder(Ones(number, name), memory)
        return set(getattr(encoder, method)(["x"]).ravel())

    assert [told(1), told(2), told(1)] == [{1.0}, {2.0}, {1.0}]
    assert told(3, name="2") == {2.0}, "of one name they do"
