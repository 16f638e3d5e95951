from __future__ import annotations

import pytest

from resin_es.model import Principal
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

FARE = "What is the fare of Bus 14?"
BOARD = Principal(groups=frozenset({"board"}))


def test_nobody_sees_what_is_not_theirs_even_if_a_search_returns_it(
    bus: ScriptedDocument, secret: ScriptedDocument
) -> None:
    found = [secret.hit(0, 0, dense=near(0.95)), bus.hit(1, 0, dense=near(0.5))]
    store = ScriptedStore([bus, secret], found)
    answer, retrieval, trace = engine_on(store).ask("What closes Bus 14?", ANYONE)
    for seen in (answer.model_dump_json(), retrieval.model_dump_json(), trace.model_dump_json()):
        assert "secret" not in seen.lower()
        assert secret.key not in seen
        assert secret.passages[0].id not in seen
    answer, _, _ = engine_on(store).ask("What closes Bus 14?", BOARD)
    assert "secret plan" in answer.text


def test_an_older_version_is_dropped_as_stale(store: ScriptedStore, bus: ScriptedDocument) -> None:
    store.change(bus.key, passages=bus.entry.passages[:1])
    found = engine_on(store).retrieve(FARE, ANYONE)
    assert bus.passages[1].id not in {p.passage_id for p in found.buffer.passages}
    assert [(d.document_id, d.reason) for d in found.buffer.dropped] == [("bus-14", "stale")]
    assert bus.passages[1].id not in {c.passage_id for c in found.hops[0].candidates}


def test_a_version_that_changes_between_the_fetches_is_not_mixed(
    store: ScriptedStore, bus: ScriptedDocument
) -> None:
    def change(number: int) -> None:
        if number == 2:
            store.change(bus.key, passages=bus.entry.passages[:1])

    store.before_fetch = change
    found = engine_on(store).retrieve(FARE, ANYONE)
    kept = {p.passage_id for p in found.buffer.passages}
    assert bus.passages[1].id not in kept
    assert {(d.passage_id, d.reason) for d in found.buffer.dropped} == {
        (bus.passages[1].id, "stale")
    }


@pytest.mark.parametrize("how", ["deleted", "revoked", "changed"])
def test_evidence_that_vanishes_while_composing_is_voided(
    store: ScriptedStore, bus: ScriptedDocument, how: str
) -> None:
    def vanish(number: int) -> None:
        if number != 3:
            return
        if how == "deleted":
            store.remove(bus.key)
        elif how == "revoked":
            store.change(bus.key, access=("board",))
        else:
            store.change(bus.key, passages=())

    store.before_fetch = vanish
    answer, retrieval, trace = engine_on(store).ask(FARE, ANYONE)
    assert "3 crowns" not in answer.model_dump_json()
    assert "3 crowns" not in retrieval.buffer.model_dump_json()
    assert answer.citations[0].void
    assert trace.citations[0].void
    assert answer.citations[0].document_id == ("bus-14" if how == "changed" else "")
    assert not any(s.citations == (1,) for s in answer.statements)


def test_coverage_counts_only_what_the_asker_may_read(store: ScriptedStore) -> None:
    public, _, _ = engine_on(store).ask(FARE, ANYONE)
    board, _, _ = engine_on(store).ask(FARE, BOARD)
    assert public.coverage[0].documents == 2
    assert board.coverage[0].documents == 3


def test_a_trace_that_may_not_be_kept_costs_no_answer(store: ScriptedStore) -> None:
    store.refuse_traces = True
    answer, _, _ = engine_on(store).ask(FARE, ANYONE)
    assert answer.found
    assert answer.trace_id == ""


def test_traces_can_be_left_out_and_retrieval_keeps_none(store: ScriptedStore) -> None:
    engine_on(store, keep_traces=False).ask(FARE, ANYONE)
    engine_on(store).retrieve(FARE, ANYONE)
    assert store.traces == {}
