from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from resin_es.errors import (
    AccessError,
    FilterError,
    InputError,
    ModelError,
    PlanError,
    SettingsError,
    StoreError,
    StoreTimeout,
    UsageError,
)
from resin_es.index.filters import Filters
from resin_es.model import UNIT_KINDS, Hop, Plan, Principal, ReaderIdentity
from resin_es.ports import SearchHit
from resin_es.query.compose import NOT_HELD, ExtractiveComposer
from resin_es.query.engine import QueryEngine
from resin_es.query.output import retrieval_to_json
from resin_es.query.planner import RulePlanner
from resin_es.query.settings import QuerySettings
from resin_es.query.values import Answered, BufferFilled, Cancelled, HopsFound, Planned
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

FARE = "What is the fare of Bus 14?"
BOARD = Principal(groups=frozenset({"board"}))


# ---------------------------------------------------------------- the road


def test_a_question_is_answered_from_its_source(store: ScriptedStore) -> None:
    answer, retrieval, trace = engine_on(store).ask(FARE, ANYONE)
    assert answer.found
    assert answer.citations[0].quote == "The fare of Bus 14 is 3 crowns."
    assert answer.trace_id == trace.id == retrieval.trace.id
    assert store.traces[trace.id] == trace
    assert [c.source for c in answer.coverage] == ["files"]
    assert answer.coverage[0].documents == 2
    assert answer.composer == "extractive/1"


def test_one_search_one_fetch_of_entries_one_of_passages_one_recheck(
    store: ScriptedStore, bus: ScriptedDocument, metro: ScriptedDocument
) -> None:
    engine_on(store, follow_up=False).ask(FARE, ANYONE)
    assert len(store.searches) == 1
    bodies, documents = store.searches[0]
    assert len(bodies) == 1
    assert documents is not None
    entries, passages, recheck = store.fetches
    keys = {bus.key, metro.key}
    assert (entries[0], set(entries[1])) == ([], keys)
    assert set(passages[0]) == {p.id for d in (bus, metro) for p in d.passages}
    assert set(passages[1]) == keys
    assert (recheck[0], set(recheck[1])) == ([], keys)


def test_independent_hops_and_the_bare_question_travel_together(store: ScriptedStore) -> None:
    found = engine_on(store).retrieve("Which is cheaper, Bus 14 or Metro Line B?", ANYONE)
    assert [hop.hop.id for hop in found.hops] == ["h1", "h2", "q", "f"]
    assert [len(bodies) for bodies, _ in store.searches] == [3, 1]


def test_a_plain_question_is_not_searched_twice(store: ScriptedStore) -> None:
    found = engine_on(store).retrieve(FARE, ANYONE)
    assert [hop.hop.id for hop in found.hops] == ["h1", "f"]
    assert [len(bodies) for bodies, _ in store.searches] == [1, 1]


def test_the_bare_question_and_the_documents_can_be_left_out(store: ScriptedStore) -> None:
    engine = engine_on(store, original_question_hop=False, document_search=False)
    engine.retrieve("Which is cheaper, Bus 14 or Metro Line B?", ANYONE)
    assert len(store.searches[0][0]) == 2
    assert store.searches[0][1] is None


def test_without_sentence_addresses_hops_search_units_and_all_else_stays(
    store: ScriptedStore,
) -> None:
    question = "Which is cheaper, Bus 14 or Metro Line B?"
    engine_on(store).retrieve(question, ANYONE)
    plain = store.searches[0]
    store.searches.clear()
    found = engine_on(store, sentence_addresses=False).retrieve(question, ANYONE)
    bodies, documents = store.searches[0]
    assert documents == plain[1] is not None
    for body, other in zip(bodies, plain[0], strict=True):
        units = {"terms": {"kind": list(UNIT_KINDS)}}
        assert units in body["knn"]["filter"]
        assert units not in other["knn"]["filter"]
        body["knn"]["filter"].remove(units)
        body["query"]["bool"]["filter"].remove(units)
        assert body == other
    assert found.buffer.passages, "documents found by their own text count"


CHAIN = "Who runs the company that built the Elm tunnel?"


def test_a_dependent_hop_is_bridged_in_a_second_search(bus: ScriptedDocument) -> None:
    told = bus.hit(0, 0, dense=near(0.9), kind="relation", subject="Orvane Works", name="u1")
    store = ScriptedStore([bus], [told])
    found = engine_on(store).retrieve(CHAIN, ANYONE)
    assert [len(bodies) for bodies, _ in store.searches] == [2, 2]
    assert store.searches[1][1] is None
    second = next(hop for hop in found.hops if hop.hop.id == "h2")
    assert second.bridged_with == ("Orvane Works",)
    asked = second.body["query"]["bool"]["must"][0]["bool"]["should"][0]["match"]["statement"]
    assert asked["query"] == "Who runs the company? Orvane Works"


def test_only_readable_current_units_name_bridges(secret: ScriptedDocument) -> None:
    told = secret.hit(0, 0, dense=near(0.9), kind="relation", subject="Orvane Works")
    found = engine_on(ScriptedStore([secret], [told])).retrieve(CHAIN, ANYONE)
    assert all(hop.bridged_with == () for hop in found.hops)
    assert "Orvane" not in found.model_dump_json()


def test_independent_mode_is_one_search(bus: ScriptedDocument) -> None:
    store = ScriptedStore([bus], [bus.hit(0, 0, dense=near(0.9))])
    engine_on(store, bridging=False).retrieve(CHAIN, ANYONE)
    assert [len(bodies) for bodies, _ in store.searches] == [3]


def test_access_stands_in_every_search(store: ScriptedStore) -> None:
    engine_on(store).retrieve(FARE, BOARD, Filters(sources=("files",)))
    bodies, documents = store.searches[0]
    clause = {"terms": {"access": ["*", "board"]}}
    assert documents is not None
    for clauses in (
        bodies[0]["knn"]["filter"],
        bodies[0]["query"]["bool"]["filter"],
        documents["query"]["bool"]["filter"],
    ):
        assert clauses[0] == clause
        assert {"terms": {"source": ["files"]}} in clauses


def test_narrowed_to_kinds_only_what_these_point_at_is_evidence(
    store: ScriptedStore, bus: ScriptedDocument, metro: ScriptedDocument
) -> None:
    found = engine_on(store).retrieve(FARE, ANYONE, Filters(kinds=("sentence",)))
    assert store.searches[0][1] is None
    assert len(found.buffer.passages) == 4
    store = ScriptedStore([bus, metro], [bus.hit(1, 0, dense=near(0.8))])
    found = engine_on(store).retrieve(FARE, ANYONE, Filters(kinds=("sentence",)))
    assert [p.passage_id for p in found.buffer.passages] == [bus.passages[1].id]


def test_short_documents_come_whole(bus: ScriptedDocument) -> None:
    store = ScriptedStore([bus], [bus.hit(1, 0, dense=near(0.8))])
    found = engine_on(store).retrieve(FARE, ANYONE)
    assert [p.passage_id for p in found.buffer.passages] == [p.id for p in bus.passages]
    assert {c.passage_id for c in found.hops[0].candidates} == {bus.passages[1].id}


def test_a_document_only_its_own_text_finds_is_evidence(bus: ScriptedDocument) -> None:
    by_text = SearchHit(id=bus.key, score=4.0)
    store = ScriptedStore([bus], [], [by_text])
    assert len(engine_on(store).retrieve(FARE, ANYONE).buffer.passages) == 2


def test_k_bounds_the_passages_of_a_hop(store: ScriptedStore) -> None:
    found = engine_on(store, follow_up=False).retrieve(FARE, ANYONE, k=1)
    assert len({c.passage_id for c in found.hops[0].candidates}) == 1
    assert {d.reason for d in found.buffer.dropped} == {"rank"}


def test_what_the_hops_keep_is_filled_on_and_counts_as_nobody_s_own(
    store: ScriptedStore, bus: ScriptedDocument, metro: ScriptedDocument
) -> None:
    found = engine_on(store, follow_up=False, k=1).retrieve(FARE, ANYONE)
    assert {c.document_key for c in found.hops[0].candidates} == {bus.key}
    assert [p.document_key for p in found.buffer.passages] == [bus.key] * 2 + [metro.key] * 2
    assert [len(keys) for _, keys in store.fetches] == [2, 2], "one fetch for all of it"
    narrow = engine_on(store, follow_up=False, k=1, fill_on=False).retrieve(FARE, ANYONE)
    limited = engine_on(store, follow_up=False).retrieve(FARE, ANYONE, k=1)
    for only in (narrow, limited):
        assert {p.document_key for p in only.buffer.passages} == {bus.key}
        assert only.hops == found.hops


def test_a_search_for_units_alone_is_not_filled_on(store: ScriptedStore) -> None:
    found = engine_on(store, follow_up=False, k=1).retrieve(
        FARE, ANYONE, Filters(kinds=("sentence",))
    )
    assert len(found.buffer.passages) == 1


def test_the_budget_of_a_call_wins(store: ScriptedStore) -> None:
    found = engine_on(store).retrieve(FARE, ANYONE, budget=12)
    assert 0 < found.buffer.tokens <= 12
    assert "budget" in {d.reason for d in found.buffer.dropped}


def test_nothing_found_is_stated(bus: ScriptedDocument) -> None:
    answer, retrieval, _ = engine_on(ScriptedStore([bus])).ask(FARE, ANYONE)
    assert not answer.found
    assert answer.text == NOT_HELD
    assert retrieval.buffer.passages == ()


@pytest.mark.parametrize(
    "question",
    ["metro", "title:(Bus AND 14) ~2 /x/ \\", "公共汽车多少钱？", "fare " * 4000, "🚋 fare?"],
)
def test_unusual_questions_are_answered(store: ScriptedStore, question: str) -> None:
    answer, _, trace = engine_on(store).ask(question, ANYONE)
    assert answer.text
    assert trace.hops


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize("question", ["", "   ", "?!…", "🚋🚋", "***"])
def test_a_question_without_a_word_is_refused(store: ScriptedStore, question: str) -> None:
    with pytest.raises(InputError):
        engine_on(store).ask(question, ANYONE)
    assert not store.searches


@pytest.mark.parametrize("k", [0, 20_000])
def test_k_is_refused_before_anything(store: ScriptedStore, k: int) -> None:
    for call in (engine_on(store).ask, engine_on(store).retrieve):
        with pytest.raises(SettingsError):
            call(FARE, ANYONE, k=k)
    with pytest.raises(SettingsError):
        engine_on(store).search("bus", ANYONE, limit=k)
    assert not store.searches


def test_unknown_sources_and_metadata_keys_are_refused(store: ScriptedStore) -> None:
    store.keys = frozenset({"category"})
    for filters in (Filters(sources=("fils",)), Filters(metadata={"categroy": ("route",)})):
        with pytest.raises(FilterError):
            engine_on(store).ask(FARE, ANYONE, filters)
    assert not store.searches
    engine_on(store).ask(FARE, ANYONE, Filters(metadata={"category": ("route",)}))


def test_a_source_of_others_looks_like_none(secret: ScriptedDocument) -> None:
    with pytest.raises(FilterError) as hidden:
        engine_on(ScriptedStore([secret])).ask(FARE, ANYONE, Filters(sources=("files",)))
    with pytest.raises(FilterError) as absent:
        engine_on(ScriptedStore()).ask(FARE, ANYONE, Filters(sources=("files",)))
    assert hidden.value.message == absent.value.message


def test_the_index_is_checked_before_any_model(store: ScriptedStore) -> None:
    class Mismatched(ScriptedStore):
        def check(self, model: Any) -> None:
            raise StoreError("another model")

    class Untouched(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            raise AssertionError("embedded")

    engine = QueryEngine(Mismatched(), Untouched(8), RulePlanner(), ExtractiveComposer())  # type: ignore[arg-type]
    for call in (engine.ask, engine.retrieve, engine.search):
        with pytest.raises(StoreError):
            call(FARE, ANYONE)


def test_an_error_is_never_an_empty_result(bus: ScriptedDocument) -> None:
    def failing(body: Any) -> list[SearchHit]:
        raise StoreTimeout("2 of 5 shards failed")

    with pytest.raises(StoreTimeout):
        engine_on(ScriptedStore([bus], failing)).ask(FARE, ANYONE)


# ---------------------------------------------------------------- plans


class FailingPlanner:
    identity = ReaderIdentity(model="broken", prompt_version="1")

    def plan(self, question: str, max_hops: int) -> Plan:
        raise ModelError("no answer")


class EagerPlanner(FailingPlanner):
    def plan(self, question: str, max_hops: int) -> Plan:
        hops = tuple(Hop(id=str(i), subquestion=f"part {i}") for i in range(max_hops + 1))
        return Plan(question=question, hops=hops)


@pytest.mark.parametrize(
    ("planner", "told"), [(FailingPlanner(), "no answer"), (EagerPlanner(), "5 hops")]
)
def test_a_failed_plan_falls_back_to_the_question_and_says_so(
    store: ScriptedStore, planner: Any, told: str
) -> None:
    engine = QueryEngine(store, HashEmbedder(8), planner, ExtractiveComposer(), QuerySettings())  # type: ignore[arg-type]
    answer, retrieval, trace = engine.ask(FARE, ANYONE)
    assert answer.found
    assert told in retrieval.plan.fallback
    assert [hop.subquestion for hop in trace.plan.hops] == [FARE]


def test_a_plan_handed_in_is_used(store: ScriptedStore) -> None:
    given = Plan(question=FARE, hops=(Hop(id="mine", subquestion="fare of Bus 14"),))
    found = engine_on(store).retrieve(FARE, ANYONE, plan=given)
    assert [hop.hop.id for hop in found.hops] == ["mine", "q", "f"]


def test_a_plan_with_too_many_hops_is_refused(store: ScriptedStore) -> None:
    hops = tuple(Hop(id=str(i), subquestion="x") for i in range(5))
    with pytest.raises(PlanError, match="5 hops"):
        engine_on(store).retrieve(FARE, ANYONE, plan=Plan(question=FARE, hops=hops))


# ---------------------------------------------------------------- search and events


def test_a_plain_search_shows_source_sentences(store: ScriptedStore, bus: ScriptedDocument) -> None:
    found = engine_on(store).search("fare", ANYONE, limit=2)
    assert [hit.sentences[0].text for hit in found.hits] == [
        "The fare of Bus 14 is 3 crowns.",
        "The ride on Bus 14 takes 38 minutes.",
    ]
    assert found.hits[0].title == "Bus 14"
    assert bus.text[found.hits[0].sentences[0].start :].startswith("The fare")
    assert store.searches[0][1] is None


def test_a_plain_search_is_fenced(secret: ScriptedDocument) -> None:
    store = ScriptedStore([secret], [secret.hit(0, 0, dense=near(0.9))])
    assert engine_on(store).search("plan", ANYONE).hits == ()
    assert len(engine_on(store).search("plan", BOARD).hits) == 1


def test_events_come_in_order(store: ScriptedStore) -> None:
    kinds = [type(event) for event in engine_on(store).ask_events(FARE, ANYONE)]
    assert kinds == [Planned, HopsFound, HopsFound, BufferFilled, Answered]


@pytest.mark.parametrize(
    ("steps", "before", "searches"),
    [(1, "search", 0), (2, "second search", 1), (3, "select", 2), (4, "compose", 2)],
)
def test_a_cancelled_question_stops_between_steps(
    store: ScriptedStore, steps: int, before: str, searches: int
) -> None:
    cancel = threading.Event()
    seen = []
    for number, event in enumerate(engine_on(store).ask_events(FARE, ANYONE, cancel=cancel), 1):
        seen.append(event)
        if number == steps:
            cancel.set()
    assert seen[-1] == Cancelled(before=before)
    assert len(store.searches) == searches
    assert not store.traces


# ---------------------------------------------------------------- output


def test_the_json_line_of_a_retrieval(store: ScriptedStore, bus: ScriptedDocument) -> None:
    found = engine_on(store, follow_up=False).retrieve(FARE, ANYONE, k=1)
    shown = retrieval_to_json("7", found)
    assert list(shown) == ["id", "hops", "evidence", "dropped"]
    assert shown["id"] == "7"
    (hop,) = shown["hops"]
    assert hop["question"] == FARE
    assert hop["candidates"][0] == {"kind": "sentence", "document_id": "bus-14", "score": 0.95}
    evidence = shown["evidence"][0]
    assert list(evidence) == ["document_id", "passage_id", "tokens", "sentences"]
    for item in shown["evidence"]:
        for sentence in item["sentences"]:
            assert list(sentence) == ["id", "start", "end", "text"]
            assert bus.text[sentence["start"] : sentence["end"]] == sentence["text"]
    assert {d["document_id"] for d in shown["dropped"]} == {"metro-b"}


def test_reading_needs_a_principal() -> None:
    assert issubclass(AccessError, UsageError)
    with pytest.raises(TypeError):
        engine_on(ScriptedStore()).ask(FARE)  # type: ignore[call-arg]
