"""Where what the hops keep leaves room, the next best of their pools fill it."""

from __future__ import annotations

from resin_es.model import EvidenceBuffer, token_count
from resin_es.query.lots import HopHelpings
from resin_es.query.ranking import SENTENCE, Helping, further, room_left
from resin_es.query.select import select
from resin_es.testing.scripted_store import ScriptedDocument
from tests.unit.query.grove import A, B, C, candidate, falling, line, order, sources, whole


def test_what_is_next_comes_by_chance_until_it_can_fill_the_budget() -> None:
    current = {d.key: d.entry.passages for d in (A, B, C)}
    kept = [[whole(A, 0.6)], [whole(B, 0.3)]]
    wider = [[whole(A, 0.6), whole(B, 0.2), whole(C, 0.1)], [whole(B, 0.3), whole(C, 0.25)]]
    assert room_left(kept, current, 2000) == 2000 // SENTENCE - 8
    first, second = further(kept, wider, current, room_left(kept, current, 2000))
    assert [(h.document_key, h.chance, h.kept) for h in first] == [(C.key, 0.1, ())]
    assert [(h.document_key, h.chance, h.kept) for h in second] == [(C.key, 0.25, ())]
    assert second[0].passages == tuple(p.id for p in C.passages)
    assert room_left(kept, current, 8 * SENTENCE) == 0
    assert further(kept, wider, current, 0) == [[], []]
    assert further(kept, wider, current, 1) == [[], second]


def test_of_a_long_document_further_passages_are_next() -> None:
    found = [candidate(A, 0, 0, 0.9), candidate(A, 1, 0, 0.8)]
    kept, wide = line(found, A, k=1, whole=False), line(found, A, k=2, whole=False)
    ((more,),) = further([kept], [wide], {A.key: A.entry.passages}, 9)
    assert more.passages == (A.passages[1].id,)


def with_further(
    own: list[Helping], more: list[Helping], *documents: ScriptedDocument, budget: int = 2000
) -> EvidenceBuffer:
    hops = [HopHelpings("h1", falling(own), further=more)]
    return select(hops, sources(*documents), budget=budget, near_duplicate=0.9)


def test_further_documents_come_last_however_good_they_look() -> None:
    size = token_count(A.text) + token_count(B.passages[0].text)
    buffer = with_further([whole(A, 0.2)], [whole(B, 0.9)], A, B)
    assert order(buffer) == ["alder", "birch"]
    assert {p.hops for p in buffer.passages} == {("h1",)}
    full = with_further([whole(A, 0.2)], [whole(B, 0.9), whole(C, 0.1)], A, B, C, budget=size)
    assert order(full) == ["alder", "birch"]
    assert [p.complete for p in full.passages if p.document_id == "alder"] == [True, True]
    assert full.dropped == (), "nothing that a hop kept is missing"
    tight = with_further([whole(A, 0.2)], [whole(B, 0.9)], A, B, budget=token_count(A.text) - 2)
    assert order(tight) == ["alder"]
    assert {d.document_id for d in tight.dropped} <= {"alder"}


def test_further_passages_of_a_document_stand_in_text_order() -> None:
    first, last = (p.id for p in A.passages)
    own = Helping(A.key, 0.5, (last,), (last,), {})
    buffer = with_further([own], [own._replace(passages=(first,), kept=())], A)
    assert [p.passage_id for p in buffer.passages] == [first, last]


def test_a_further_document_that_repeats_gives_way_and_is_listed() -> None:
    text = "Bus 14 stops at the old mill and at the market every ten minutes."
    one, two = (ScriptedDocument(name, [[text]]) for name in ("one", "two"))
    buffer = with_further([whole(one)], [whole(two), whole(C)], one, two, C)
    assert order(buffer) == ["one", "cedar"]
    assert [(d.document_id, d.reason) for d in buffer.dropped] == [("two", "duplicate")]
