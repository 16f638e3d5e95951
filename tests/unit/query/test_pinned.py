"""One generation and its model for the length of a question; another one where it is dropped."""

from __future__ import annotations

from copy import copy
from typing import Any

import pytest

from resin_es.errors import GenerationGone, StoreTimeout
from resin_es.ports import Embedder, GenerationalStore
from resin_es.query.engine import QueryEngine
from resin_es.query.pinned import TRIES
from resin_es.query.values import HopsFound, Planned
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_store import ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on

FARE = "What is the fare of Bus 14?"
NEW = HashEmbedder(16, name="new")


class Moving(ScriptedStore):
    """``gone`` counts the searches that meet a dropped generation; ``first`` go through before."""

    generation = ""

    def move(self, gone: int, first: int = 0) -> Moving:
        self.script = [False] * first + [True] * gone
        self.pins: list[str] = []
        return self

    def pinned(self, embedder: Embedder) -> tuple[Any, Embedder]:
        held = copy(self)
        held.generation = f"v{len(self.pins) + 1}"
        self.pins.append(held.generation)
        return held, embedder if len(self.pins) == 1 else NEW

    def search(self, addresses: Any, documents: Any) -> Any:
        found = super().search(addresses, documents)
        if self.script and self.script.pop(0):
            raise GenerationGone("replaced")
        return found


@pytest.fixture
def moving(store: ScriptedStore) -> Moving:
    moving = Moving()
    moving.__dict__.update(store.__dict__)
    return moving


def dims(moving: Moving) -> list[int]:
    """Dims of the vectors of each call of the store, in order."""
    return [len(bodies[0]["knn"]["query_vector"]) for bodies, _ in moving.searches]


def test_it_is_a_store_of_generations(moving: Moving) -> None:
    assert isinstance(moving, GenerationalStore)
    assert not isinstance(ScriptedStore(), GenerationalStore)


def test_one_look_for_all_searches_of_a_question(moving: Moving) -> None:
    engine = engine_on(moving.move(gone=0))
    _, _, trace = engine.ask(FARE, ANYONE)
    assert moving.pins == ["v1"]
    assert moving.checked == [], "the look is the check"
    assert trace.index_generation == "v1"
    assert trace.models["embedder"] == engine.embedder.identity.name


@pytest.mark.parametrize("first", [0, 1])
def test_searches_begin_again_on_the_new_generation_with_its_model(
    moving: Moving, first: int
) -> None:
    engine = engine_on(moving.move(gone=1, first=first))
    usual = engine.embedder.identity.dims
    events = list(engine.ask_events(FARE, ANYONE))
    assert moving.pins == ["v1", "v2"]
    assert dims(moving)[: first + 2] == [usual] * (first + 1) + [16]
    assert set(dims(moving)[first + 1 :]) == {16}, "no vector of the old model goes to the new one"
    assert sum(isinstance(event, Planned) for event in events) == 1
    assert sum(isinstance(event, HopsFound) for event in events) >= 1 + first
    result: Any = events[-1]
    assert result.result.trace.index_generation == "v2"
    assert result.result.trace.models["embedder"] == NEW.identity.name
    assert result.result.answer.found


def test_what_was_found_is_as_if_it_had_begun_there(moving: Moving) -> None:
    engine = engine_on(moving.move(gone=1))
    again = engine.retrieve(FARE, ANYONE)
    engine.embedder = NEW
    moving.move(gone=0)
    once = engine.retrieve(FARE, ANYONE)
    assert again.buffer == once.buffer
    assert again.hops == once.hops


def test_a_plain_search_is_sent_again(moving: Moving) -> None:
    found = engine_on(moving.move(gone=1)).search("fare", ANYONE)
    assert found.hits
    assert moving.pins == ["v1", "v2"]


def test_it_is_not_tried_for_ever(moving: Moving) -> None:
    for ask in (QueryEngine.retrieve, QueryEngine.search):
        with pytest.raises(GenerationGone):
            ask(engine_on(moving.move(gone=100)), FARE, ANYONE)
        assert len(moving.pins) == TRIES + 1


def test_any_other_failure_is_told_at_once(moving: Moving) -> None:
    engine = engine_on(moving.move(gone=0))

    def fail(addresses: Any, documents: Any) -> Any:
        raise StoreTimeout("too slow")

    moving.search = fail  # type: ignore[method-assign]
    with pytest.raises(StoreTimeout):
        engine.retrieve(FARE, ANYONE)
    assert moving.pins == ["v1"]
