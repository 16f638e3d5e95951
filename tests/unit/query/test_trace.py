from __future__ import annotations

import json
from typing import Any

import pytest

from resin_es.errors import InputError, StoreError
from resin_es.model import Principal, Trace
from resin_es.query.replay import replay_bodies
from resin_es.query.trace import visible
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

FARE = "What is the fare of Bus 14?"
CHAIN = "Who runs the company that built the Elm tunnel?"
STAFF = Principal(groups=frozenset({"staff"}))
BOARD = Principal(groups=frozenset({"board"}))
ADMIN = Principal(admin=True)


def asked(
    store: ScriptedStore, who: Principal = ANYONE, question: str = FARE, **settings: Any
) -> Trace:
    return engine_on(store, **settings).ask(question, who)[2]


def test_a_trace_holds_every_step_and_no_word_of_evidence(store: ScriptedStore) -> None:
    trace = asked(store)
    assert trace.question == FARE
    assert [hop.hop.id for hop in trace.hops] == ["h1", "f"]
    assert trace.hops[0].candidates
    assert trace.document_body
    assert trace.passages
    assert trace.citations
    assert trace.found
    assert trace.models["embedder"] == "hash-8"
    assert trace.models["planner"] == "rules/1"
    assert trace.settings["k"] == 10
    assert set(trace.times_ms) >= {"plan", "embed", "search", "fetch", "select", "compose"}
    told = trace.model_dump_json()
    for words in ("3 crowns", "38 minutes", "Dogs ride", "Halden", "bus-14"):
        assert words not in told


def test_the_vector_stands_by_reference(store: ScriptedStore) -> None:
    named = asked(store).hops[0].body["knn"]["query_vector"]
    assert named.startswith("vector:")
    body = dict(store.searches[0][0][0])
    body["knn"] = {**body["knn"], "query_vector": named}
    assert asked(store).hops[0].body == body


def test_a_bridge_is_traced_by_address(bus: ScriptedDocument) -> None:
    told = bus.hit(0, 0, dense=near(0.9), kind="relation", subject="Orvane Works", name="u1")
    store = ScriptedStore([bus], [told])
    trace = asked(store, question=CHAIN)
    second = next(hop for hop in trace.hops if hop.hop.id == "h2")
    assert second.bridged_from == ("u1",)
    assert "Orvane" not in trace.model_dump_json()


def test_replay_sends_the_same_bodies(store: ScriptedStore) -> None:
    trace = asked(store)
    sent = store.searches[0][0]
    vectors = {trace.hops[0].body["knn"]["query_vector"]: sent[0]["knn"]["query_vector"]}
    assert replay_bodies(trace, vectors) == sent
    with pytest.raises(StoreError, match="not the one in the trace"):
        replay_bodies(trace, {})


def test_replay_reports_the_overlap(store: ScriptedStore, bus: ScriptedDocument) -> None:
    trace = asked(store, follow_up=False)
    (same,) = engine_on(store).replay(trace.id, ANYONE)
    assert (same.overlap, same.same_order, same.k) == (1.0, True, 4)
    store._answers = [bus.hit(1, 0, dense=near(0.8))]
    (fewer,) = engine_on(store).replay(trace.id, ANYONE)
    assert fewer.overlap == 0.25


def test_a_bridged_hop_is_replayed_as_it_was_sent(bus: ScriptedDocument) -> None:
    told = bus.hit(0, 0, dense=near(0.9), kind="relation", subject="Orvane Works", name="u1")
    store = ScriptedStore([bus], [told])
    trace = asked(store, question=CHAIN)
    before = [body for bodies, _ in store.searches for body in bodies]
    store.searches.clear()
    overlaps = engine_on(store).replay(trace.id, ANYONE)
    assert [body for bodies, _ in store.searches for body in bodies] == before
    assert [one.overlap for one in overlaps] == [1.0] * len(trace.hops)


def test_an_unbridged_dependent_hop_is_replayed_too(bus: ScriptedDocument) -> None:
    store = ScriptedStore([bus], [bus.hit(0, 1, dense=near(0.9), kind="relation", subject="fog")])
    trace = asked(store, question=CHAIN)
    assert [one.overlap for one in engine_on(store).replay(trace.id, ANYONE)] == [1.0] * len(
        trace.hops
    )


@pytest.mark.parametrize(
    ("made_by", "reader", "seen"),
    [
        (ANYONE, ANYONE, True),
        (STAFF, STAFF, True),
        (STAFF, ANYONE, False),
        (STAFF, BOARD, False),
        (STAFF, Principal(groups=frozenset({"staff", "board"})), True),
        (STAFF, ADMIN, True),
        (ADMIN, STAFF, False),
        (ADMIN, ADMIN, True),
    ],
)
def test_who_may_see_a_trace(
    store: ScriptedStore, made_by: Principal, reader: Principal, seen: bool
) -> None:
    assert visible(asked(store, made_by), reader) is seen


def test_a_trace_of_others_looks_like_none(store: ScriptedStore) -> None:
    trace = asked(store, BOARD)
    for call in (engine_on(store).trace, engine_on(store).replay):
        with pytest.raises(InputError) as hidden:
            call(trace.id, STAFF)
        with pytest.raises(InputError) as absent:
            call("0" * 16, STAFF)
        assert hidden.value.message.replace(trace.id, "") == absent.value.message.replace(
            "0" * 16, ""
        )


def test_a_shown_trace_has_words_the_reader_may_read(store: ScriptedStore) -> None:
    shown = engine_on(store).trace(asked(store).id, ANYONE)
    assert shown.citations[0].evidence.text == "The fare of Bus 14 is 3 crowns."
    assert shown.hops[0].candidates[0].evidence.document_id == "bus-14"
    assert json.loads(shown.model_dump_json())["question"] == FARE


def test_what_was_revoked_since_is_withheld(store: ScriptedStore, bus: ScriptedDocument) -> None:
    trace = asked(store)
    store.change(bus.key, access=("board",))
    shown = engine_on(store).trace(trace.id, ANYONE)
    told = shown.model_dump_json()
    assert "crowns" not in told.replace("5 crowns", "")
    assert "bus-14" not in told
    assert bus.passages[1].id not in told
    assert shown.citations[0].evidence.state == "withheld"


def test_what_changed_since_is_stale(store: ScriptedStore, bus: ScriptedDocument) -> None:
    trace = asked(store)
    store.change(bus.key, passages=())
    shown = engine_on(store).trace(trace.id, ANYONE)
    assert shown.citations[0].evidence.state == "stale"
    assert shown.citations[0].evidence.text == ""
