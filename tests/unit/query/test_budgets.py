"""One search fills buffers of any budget, each as if it had been asked for alone."""

from __future__ import annotations

import pytest

from resin_es.query import found
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore
from tests.unit.query.conftest import ANYONE, engine_on, near

QUESTIONS = (
    "What is the fare of Bus 14?",
    "Which is cheaper, Bus 14 or Metro Line B?",
    "Who runs the company that built the Elm tunnel?",
)


@pytest.fixture
def named(store: ScriptedStore, bus: ScriptedDocument, metro: ScriptedDocument) -> ScriptedStore:
    """The small city with a unit that names something to go on to."""
    unit = bus.hit(0, 0, dense=near(0.75), kind="relation", subject="Metro Line B", name="u1")
    other = metro.hit(1, 0, dense=near(0.6), lexical=2.0)
    return ScriptedStore([bus, metro], [bus.hit(1, 0, dense=near(0.8), lexical=6.0), unit, other])


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_budget_is_filled_as_if_it_were_asked_alone(
    named: ScriptedStore, question: str
) -> None:
    engine = engine_on(named)
    at = engine.searched(question, ANYONE)
    for budget in (2000, 9, 30, 2000):
        once, alone = at(budget), engine.retrieve(question, ANYONE, budget=budget)
        assert once.buffer == alone.buffer
        assert once.hops == alone.hops
        assert once.trace.passages == alone.trace.passages
        assert once.documents == alone.documents


def test_what_no_budget_changes_is_worked_out_once(
    named: ScriptedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(name: str) -> None:
        inner = getattr(found, name)

        def call(*args: object, **named: object) -> object:
            calls.append(name)
            return inner(*args, **named)

        monkeypatch.setattr(found, name, call)

    for name in ("document_scores", "linked_chances", "sentence_hits"):
        counted(name)
    at = engine_on(named).searched(QUESTIONS[0], ANYONE)
    hops = at(2000).hops
    assert [hop.hop.id for hop in hops] == ["h1", "f"]
    before = sorted(calls)
    at(9)
    at(500)
    assert sorted(calls) == before
    assert before == ["document_scores", "linked_chances", "sentence_hits", "sentence_hits"]


def test_a_right_that_is_revoked_between_two_budgets_counts(
    named: ScriptedStore, bus: ScriptedDocument
) -> None:
    at = engine_on(named).searched(QUESTIONS[0], ANYONE)
    assert bus.key in {p.document_key for p in at(2000).buffer.passages}
    named.change(bus.key, access=("board",))
    later = at(2000)
    assert bus.key not in {p.document_key for p in later.buffer.passages}
    assert bus.entry.external_id not in {d.document_id for d in later.buffer.dropped}


def test_a_follow_up_needs_no_vector_of_its_own(
    named: ScriptedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_on(named)
    asked: list[list[str]] = []
    inner = engine.embedder.embed_queries

    def embed_queries(texts: list[str]) -> object:
        asked.append(texts)
        return inner(texts)

    monkeypatch.setattr(engine.embedder, "embed_queries", embed_queries)
    hops = engine.retrieve(QUESTIONS[1], ANYONE).hops
    assert [hop.hop.id for hop in hops] == ["h1", "h2", "q", "f"]
    assert [len(texts) for texts in asked] == [3]
    vectors = {hop.hop.id: hop.body["knn"]["query_vector"] for hop in hops}
    assert vectors["f"] == vectors["q"] != vectors["h1"]
