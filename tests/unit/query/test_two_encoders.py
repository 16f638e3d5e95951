"""Questions to a store that has texts in other languages: asked, traced, shown, replayed."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import pytest

from resin_es.errors import GenerationGone, StoreError
from resin_es.index.filters import Filters
from resin_es.index.multilingual import FIELD
from resin_es.model import Principal, Trace
from resin_es.ports import Embedder, MultilingualStore, SearchHit
from resin_es.query.engine import QueryEngine
from resin_es.query.replay import replay, replay_bodies
from resin_es.query.searching import Searching
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

FARE = "What is the fare of Bus 14?"
TARIFF = "Wie viel kostet die Fahrt mit der Buslinie 14 am Sonntag?"
CHAIN = "Who runs the company that built the Elm tunnel?"


class Counting(HashEmbedder):
    """Remembers the questions that it embedded."""

    def __init__(self, dims: int = 16, name: str = "second") -> None:
        super().__init__(dims, name=name)
        self.texts: list[str] = []

    def embed_queries(self, texts: Sequence[str]) -> Any:
        self.texts.extend(texts)
        return super().embed_queries(texts)


class Languages(ScriptedStore):
    """Has second vectors that ``encoder`` made; each look is remembered."""

    def speaks(self, encoder: Embedder | None) -> Languages:
        self.encoder, self.looks = encoder, list[Principal]()
        return self

    def second_encoder(self, principal: Principal) -> Embedder | None:
        self.looks.append(principal)
        return self.encoder

    @property
    def bodies(self) -> list[Any]:
        return [body for bodies, _ in self.searches for body in bodies]


@pytest.fixture
def otobus() -> ScriptedDocument:
    return ScriptedDocument("otobus-14", [["14 numarali otobus pazar gunu ucretsizdir."]])


@pytest.fixture
def found(bus: ScriptedDocument, otobus: ScriptedDocument) -> list[SearchHit]:
    return [
        bus.hit(1, 0, dense=near(0.8), lexical=6.0),
        bus.hit(0, 1, dense=near(0.6)),
        otobus.hit(0, 0, multilingual=near(0.7)),
    ]


@pytest.fixture
def store(bus: ScriptedDocument, otobus: ScriptedDocument, found: list[SearchHit]) -> Languages:
    return Languages([bus, otobus], found).speaks(Counting())


def vectors(body: Any) -> list[list[float]]:
    knn = body["knn"]
    return [one["query_vector"] for one in (knn if isinstance(knn, list) else [knn])]


# ---------------------------------------------------------------- asked


def test_it_is_a_store_of_languages(store: Languages) -> None:
    assert isinstance(store, MultilingualStore)
    assert not isinstance(ScriptedStore(), MultilingualStore)


@pytest.mark.parametrize("question", [FARE, CHAIN])
def test_every_hop_asks_both_encoders_each_text_once(store: Languages, question: str) -> None:
    """The follow-up asks the question again."""
    _, _, trace = engine_on(store).ask(question, ANYONE)
    second: Any = store.encoder
    assert store.looks == [ANYONE], "one look for all hops of both searches"
    assert len(second.texts) == len(set(second.texts)) > 0
    assert question in second.texts
    assert [[len(row) for row in vectors(body)] for body in store.bodies] == (
        [[8, 16]] * len(trace.hops)
    )
    assert trace.models["multilingual"] == "second-16"


def test_the_principal_of_the_look_is_the_asker(store: Languages) -> None:
    staff = Principal(groups=frozenset({"staff"}))
    engine = engine_on(store)
    engine.search(FARE, staff)
    engine.retrieve(FARE, staff)
    assert store.looks == [staff, staff]


@pytest.mark.parametrize("kind", [ScriptedStore, Languages])
def test_where_there_is_nothing_in_other_languages_nothing_changes(
    kind: type[ScriptedStore], bus: ScriptedDocument, found: list[SearchHit]
) -> None:
    plain = kind([bus], found[:2])
    if isinstance(plain, Languages):
        plain.speaks(None)
    engine = engine_on(plain)
    _, _, trace = engine.ask(FARE, ANYONE)
    engine.search(FARE, ANYONE)
    for bodies, _ in plain.searches:
        for body in bodies:
            assert isinstance(body["knn"], dict)
            assert body["size"] == engine.settings.size
            assert FIELD not in str(body)
    assert "multilingual" not in trace.models


def test_a_plain_search_goes_over_both(store: Languages) -> None:
    told = engine_on(store).search(FARE, ANYONE).hits
    (body,) = store.bodies
    assert [len(row) for row in vectors(body)] == [8, 16]
    assert {h.candidate.document_id for h in told if h.candidate.multilingual} == {"otobus-14"}
    assert {h.candidate.document_id for h in told if not h.candidate.multilingual} == {"bus-14"}


def searching(store: Any) -> Searching:
    return Searching(store, HashEmbedder(8), QuerySettings(), ANYONE, Filters())


@pytest.mark.parametrize("ask", [QueryEngine.retrieve, QueryEngine.search])
def test_settings_without_second_vectors_hold_for_every_search(store: Languages, ask: Any) -> None:
    ask(engine_on(store, second_vectors=False), FARE, ANYONE)
    assert store.looks == []
    assert all(isinstance(body["knn"], dict) for body in store.bodies)


def across(store: Languages, question: str) -> set[bool]:
    run = searching(store)
    return {item.across for item in run.first(question, engine_on(store).plan(question))}


def test_words_of_another_language_are_expected_of_english_questions_alone(
    store: Languages,
) -> None:
    assert across(store, FARE) == {True}
    assert across(store, TARIFF) == {False}
    assert across(store.speaks(None), FARE) == {False}


def test_nothing_is_looked_for_before_the_first_search(store: Languages) -> None:
    """So that a generation that goes meanwhile is met where it is taken up again."""
    run = searching(store)
    assert store.looks == []
    run.first(FARE, engine_on(store).plan(FARE))
    assert store.looks == [ANYONE]


# ---------------------------------------------------------------- another generation


class Moving(Languages):
    """Each pin is a new generation, whose second encoder is the next of ``encoders``; ``gone``
    names the calls that meet a generation that was dropped."""

    generation = ""

    def moves(self, *encoders: Embedder | None, gone: Sequence[str]) -> Moving:
        self.encoders, self.gone = list(encoders), list(gone)
        return self

    def pinned(self, embedder: Embedder) -> tuple[Any, Embedder]:
        held = copy(self)
        held.encoder = self.encoders.pop(0)
        return held, embedder

    def _meets(self, call: str) -> None:
        if self.gone and self.gone[0] == call:
            raise GenerationGone(self.gone.pop(0))

    def second_encoder(self, principal: Principal) -> Embedder | None:
        self._meets("look")
        return super().second_encoder(principal)

    def search(self, addresses: Any, documents: Any) -> Any:
        found = super().search(addresses, documents)
        self._meets("search")
        return found


@pytest.fixture
def moving(store: Languages) -> Moving:
    moving = Moving()
    moving.__dict__.update(store.__dict__)
    return moving


@pytest.mark.parametrize("call", ["look", "search"])
@pytest.mark.parametrize("ask", [QueryEngine.retrieve, QueryEngine.search])
def test_a_new_generation_is_asked_with_its_own_second_encoder(
    moving: Moving, ask: Any, call: str
) -> None:
    old, new = Counting(name="old"), Counting(32, name="new")
    ask(engine_on(moving.moves(old, new, gone=[call])), FARE, ANYONE)
    assert moving.gone == []
    assert moving.encoders == []
    before = [body for body in moving.bodies if len(vectors(body)[1]) == 16]
    assert len(before) == (call == "search"), "no old vector goes to the new generation"
    assert len(vectors(moving.bodies[-1])[1]) == 32
    assert new.texts == [FARE], "asked again, though the old one had been"


def test_a_new_generation_without_second_vectors_is_asked_without(moving: Moving) -> None:
    moving.moves(Counting(), None, gone=["search"])
    trace = engine_on(moving).retrieve(FARE, ANYONE).trace
    assert isinstance(moving.bodies[-1]["knn"], dict)
    assert "multilingual" not in trace.models


# ---------------------------------------------------------------- traced and shown


def traced(store: ScriptedStore, question: str = FARE, **settings: Any) -> Trace:
    return engine_on(store, **settings).ask(question, ANYONE)[2]


def test_a_trace_tells_what_the_second_vector_brought(store: Languages) -> None:
    trace = traced(store)
    for hop in (
        trace.hops[0].candidates,
        engine_on(store).trace(trace.id, ANYONE).hops[0].candidates,
    ):
        assert [one.multilingual for one in hop].count(True) == 1
    shown = engine_on(store).trace(trace.id, ANYONE).hops[0].candidates
    assert {c.evidence.document_id for c in shown if c.multilingual} == {"otobus-14"}
    kept = Trace.model_validate_json(trace.model_dump_json())
    assert kept == trace


def test_both_vectors_stand_by_reference(store: Languages) -> None:
    trace = traced(store)
    for hop in trace.hops:
        assert all(str(row).startswith("vector:") for row in vectors(hop.body))
    first, second = vectors(trace.hops[0].body)
    assert first != second


# ---------------------------------------------------------------- replayed


def test_a_trace_is_replayed_as_it_was_sent(store: Languages) -> None:
    trace = traced(store)
    before = store.bodies
    store.searches.clear()
    told = engine_on(store).replay(trace.id, ANYONE)
    assert store.bodies == before
    assert [(one.overlap, one.same_order) for one in told] == [(1.0, True)] * len(trace.hops)


def test_a_bridged_hop_is_replayed_with_both_vectors(bus: ScriptedDocument) -> None:
    told = bus.hit(0, 0, dense=near(0.9), kind="relation", subject="Orvane Works", name="u1")
    store = Languages([bus], [told]).speaks(Counting())
    trace = traced(store, CHAIN)
    assert any(hop.bridged_from for hop in trace.hops)
    before = store.bodies
    store.searches.clear()
    engine_on(store).replay(trace.id, ANYONE)
    assert store.bodies == before
    assert {len(vectors(body)) for body in before} == {2}


def test_another_second_encoder_is_no_replay(store: Languages) -> None:
    trace = traced(store)
    store.speaks(HashEmbedder(16, name="second", seed="other "))
    with pytest.raises(StoreError, match="not the one in the trace"):
        engine_on(store).replay(trace.id, ANYONE)


def test_each_missing_vector_is_missed(store: Languages) -> None:
    trace = traced(store, follow_up=False)
    (body,) = store.bodies
    names = vectors(trace.hops[0].body)
    known: dict[Any, list[float]] = dict(zip(names, vectors(body), strict=True))
    assert replay_bodies(trace, known) == [body]
    for name in names:
        with pytest.raises(StoreError, match="not the one in the trace"):
            replay_bodies(trace, {k: v for k, v in known.items() if k != name})


def test_a_trace_of_before_is_replayed_with_its_one_clause(store: Languages) -> None:
    """Made when there was nothing in other languages; there is by now."""
    second = store.encoder
    trace = traced(store.speaks(None))
    before = store.bodies
    store.speaks(second).searches.clear()
    told = engine_on(store).replay(trace.id, ANYONE)
    assert store.bodies == before
    assert {one.overlap for one in told} == {1.0}


@pytest.mark.parametrize("question", [FARE, CHAIN])
def test_where_nothing_is_left_in_other_languages_the_rest_is_replayed(
    store: Languages, question: str
) -> None:
    trace = traced(store, question)
    before = store.bodies
    store.speaks(None).searches.clear()
    reading: Any = store
    told = replay(trace, reading, HashEmbedder(8))
    assert len(told) == len(trace.hops)
    assert store.bodies == [{**body, "knn": body["knn"][0]} for body in before]
