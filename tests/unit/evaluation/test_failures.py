"""Each missed gold sentence is classed by the stage that lost it: hand-made traces."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resin_es.evaluation.failures import (
    FailureDiagnosis,
    IndexedDocument,
    IndexedDocuments,
    IndexedPassage,
    diagnose_question,
)
from resin_es.evaluation.values import EvalQuestion, Evidence, GoldSentence, Miss, Span
from resin_es.model import (
    Answer,
    Citation,
    DocumentStatus,
    EvidencePassage,
    EvidenceSentence,
    Hop,
    Plan,
    Principal,
    StageError,
    Trace,
)
from resin_es.model.trace import TracedCandidate, TracedHop, TracedPassage
from resin_es.testing.scripted_store import ScriptedDocument, ScriptedStore

SENTENCES = {
    "a": ("The fare of the bus is two.", "Dogs ride free."),
    "b": ("The metro is faster.", "It runs at night.", "It has three lines."),
}


def sentence(document: str, number: int) -> EvidenceSentence:
    start = sum(len(text) + 1 for text in SENTENCES[document][:number])
    text = SENTENCES[document][number]
    return EvidenceSentence(id=f"{document}{number}", start=start, end=start + len(text), text=text)


def indexed(document: str) -> IndexedDocument:
    """Every sentence a passage of its own."""
    return IndexedDocument(
        document_id=document,
        state="indexed",
        passages=tuple(
            IndexedPassage(
                passage_id=f"p-{document}{number}",
                document_key=f"key-{document}",
                sentences=(sentence(document, number),),
            )
            for number in range(len(SENTENCES[document]))
        ),
    )


INDEX = {name: indexed(name) for name in SENTENCES}


def gold(document: str, number: int) -> GoldSentence:
    at = sentence(document, number)
    place = Span(document_id=document, start=at.start, end=at.end)
    return GoldSentence(id=f"gold-{at.id}", places=(place,))


def asked(*sentences: GoldSentence) -> EvalQuestion:
    return EvalQuestion(id="q", question="How much is the bus?", gold=sentences)


def kept(document: str, number: int, *, title: str = "") -> EvidencePassage:
    at = sentence(document, number)
    return EvidencePassage(
        passage_id=f"p-{at.id}",
        document_key=f"key-{document}",
        document_id=document,
        source="files",
        title=title,
        text=at.text,
        sentences=(at,),
        tokens=5,
    )


def evidence(
    *passages: EvidencePassage,
    candidates: tuple[str, ...] = (),
    dropped: dict[str, str] | None = None,
    document_hits: tuple[str, ...] = (),
) -> Evidence:
    """``candidates`` are sentence ids in rank order; ``dropped`` maps them to reasons."""
    hop = Hop(id="h1", subquestion="How much is the bus?")
    traced = [
        TracedPassage(
            passage_id=p.passage_id,
            document_key=p.document_key,
            sentence_ids=tuple(s.id for s in p.sentences),
            tokens=p.tokens,
        )
        for p in passages
    ] + [
        TracedPassage(passage_id=f"p-{name}", document_key=f"key-{name[0]}", reason=reason)
        for name, reason in (dropped or {}).items()
    ]
    trace = Trace(
        id="t1",
        created_at=datetime(2026, 1, 1, tzinfo=timezone.utc),
        question="How much is the bus?",
        plan=Plan(question="How much is the bus?", hops=(hop,)),
        hops=(
            TracedHop(
                hop=hop,
                candidates=tuple(
                    TracedCandidate(
                        address_id=f"unit-{name}",
                        kind="entity-fact",
                        passage_id=f"p-{name}",
                        document_key=f"key-{name[0]}",
                        sentence_ids=(name,),
                        score=1.0,
                    )
                    for name in candidates
                ),
            ),
        ),
        document_hits=tuple((key, 1.0) for key in document_hits),
        passages=tuple(traced),
    )
    return Evidence(passages=passages, trace=trace)


def one(misses: tuple[Miss, ...]) -> Miss:
    (miss,) = misses
    assert "\n" not in miss.detail
    assert miss.detail
    return miss


def test_what_is_in_the_evidence_is_no_miss() -> None:
    found = evidence(kept("a", 0), candidates=("a0",))
    assert diagnose_question(asked(gold("a", 0)), found, None, INDEX) == ()


def test_a_document_that_is_not_there_is_not_indexed() -> None:
    miss = one(diagnose_question(asked(gold("a", 0)), evidence(), None, {}))
    assert (miss.gold_id, miss.stage) == ("gold-a0", "not_indexed")
    assert miss.detail == "Document a is not in the index."
    assert miss.text == ""


def test_a_document_without_evidence_is_not_indexed_and_says_why() -> None:
    failed = {"a": IndexedDocument(document_id="a", state="failed: passages: too long")}
    miss = one(diagnose_question(asked(gold("a", 0)), evidence(), None, failed))
    assert miss.stage == "not_indexed"
    assert "failed: passages: too long" in miss.detail


@pytest.mark.parametrize(("end", "stage"), [(54, "not_retrieved"), (55, "not_indexed")])
def test_addresses_must_hold_half_of_the_gold_sentence(end: int, stage: str) -> None:
    assert INDEX["a"].passages[0].sentences[0].end == 27
    place = Span(document_id="a", start=0, end=end)
    only = {"a": INDEX["a"].model_copy(update={"passages": INDEX["a"].passages[:1]})}
    question = asked(GoldSentence(id="g", places=(place,)))
    miss = one(diagnose_question(question, evidence(), None, only))
    assert miss.stage == stage
    assert ("49%" in miss.detail) == (stage == "not_indexed")


def test_a_second_place_of_the_same_words_counts() -> None:
    elsewhere = GoldSentence(
        id="g", places=(Span(document_id="gone", start=0, end=9), *gold("a", 0).places)
    )
    miss = one(diagnose_question(asked(elsewhere), evidence(), None, INDEX))
    assert miss.stage == "not_retrieved"
    assert miss.text == SENTENCES["a"][0]


def test_not_retrieved() -> None:
    found = evidence(kept("b", 0, title="Metro"), candidates=("b0",))
    miss = one(diagnose_question(asked(gold("a", 0)), found, None, INDEX))
    assert miss.stage == "not_retrieved"
    assert miss.taken == "Metro: The metro is faster."
    assert miss.text == SENTENCES["a"][0]


def test_not_retrieved_tells_how_near_the_document_came() -> None:
    found = evidence(kept("b", 0), candidates=("b0", "a1"), dropped={"a1": "budget"})
    miss = one(diagnose_question(asked(gold("a", 0)), found, None, INDEX))
    assert miss.stage == "not_retrieved"
    assert miss.detail.endswith("Another part of its document: h1 at rank 2.")
    found = evidence(kept("b", 0), candidates=("b0",), document_hits=("key-b", "key-a"))
    miss = one(diagnose_question(asked(gold("a", 0)), found, None, INDEX))
    assert miss.detail.endswith("Its document by title and text: rank 2.")


def test_beyond_the_k_of_a_hop_is_not_retrieved() -> None:
    found = evidence(kept("b", 0), candidates=("b0",), dropped={"a0": "rank"})
    miss = one(diagnose_question(asked(gold("a", 0)), found, None, INDEX))
    assert miss.stage == "not_retrieved"
    assert "beyond the k" in miss.detail


@pytest.mark.parametrize("reason", ["budget", "duplicate", "rank"])
def test_not_selected_says_why(reason: str) -> None:
    found = evidence(kept("b", 0), candidates=("b0", "a0"), dropped={"a0": reason})
    miss = one(diagnose_question(asked(gold("a", 0)), found, None, INDEX))
    assert miss.stage == "not_selected"
    assert miss.detail == f"By h1 at rank 2. Left out of the buffer: {reason}."


def test_a_document_that_came_in_with_other_passages_is_not_selected() -> None:
    found = evidence(kept("a", 1), candidates=("a1",))
    miss = one(diagnose_question(asked(gold("a", 0)), found, None, INDEX))
    assert miss.stage == "not_selected"
    assert "with other passages" in miss.detail


def test_a_part_of_it_in_the_buffer_is_not_selected() -> None:
    first, last = sentence("b", 0), sentence("b", 2)
    place = Span(document_id="b", start=first.start, end=last.end)
    question = asked(GoldSentence(id="g", places=(place,)))
    found = evidence(kept("b", 0), candidates=("b0",))
    miss = one(diagnose_question(question, found, None, INDEX))
    assert miss.stage == "not_selected"
    assert "less than half" in miss.detail


def answer(*cited: str, found: bool = True, void: str = "") -> Answer:
    citations = tuple(
        Citation(
            number=number,
            passage_id=f"p-{name}",
            document_key=f"key-{name[0]}",
            document_id=name[0],
            source="files",
            sentence_ids=(name,),
            quote=SENTENCES[name[0]][int(name[1])],
            void=void,
        )
        for number, name in enumerate(cited, start=1)
    )
    return Answer(question="?", text="So.", found=found, citations=citations)


@pytest.mark.parametrize(
    ("composed", "detail"),
    [
        (answer("b0"), "cites 1 other place"),
        (answer("a0", void="gone"), "cites nothing"),
        (answer(found=False), "says that nothing"),
    ],
)
def test_not_used(composed: Answer, detail: str) -> None:
    found = evidence(kept("a", 0), kept("b", 0), candidates=("a0", "b0"))
    miss = one(diagnose_question(asked(gold("a", 0)), found, composed, INDEX))
    assert miss.stage == "not_used"
    assert detail in miss.detail


def test_a_cited_sentence_is_used() -> None:
    found = evidence(kept("a", 0), kept("b", 0), candidates=("a0", "b0"))
    assert diagnose_question(asked(gold("a", 0)), found, answer("b0", "a0"), INDEX) == ()


def test_a_system_without_a_trace_is_not_followed() -> None:
    found = Evidence(passages=(kept("b", 0),))
    assert diagnose_question(asked(gold("a", 0)), found, None, INDEX) == ()


@given(st.text(), st.text())
def test_quotes_are_one_short_line_whatever_the_text(title: str, text: str) -> None:
    passage = kept("b", 0).model_copy(update={"title": title, "text": text})
    (miss,) = diagnose_question(asked(gold("a", 0)), evidence(passage), None, INDEX)
    assert len(miss.taken) <= 200
    assert len(miss.taken.splitlines()) <= 1


# ---------------------------------------------------------------- through the port


def library() -> tuple[ScriptedStore, ScriptedDocument]:
    bus = ScriptedDocument("bus", [["The fare is two.", "Dogs ride free."], ["It stops."]])
    return ScriptedStore([bus]), bus


def test_documents_are_fetched_once_with_their_offsets() -> None:
    store, bus = library()
    documents = IndexedDocuments(store, "files", Principal())
    (found,) = documents.of(["bus", "bus"]).values()
    assert found.state == "indexed"
    spans = [(s.start, s.end) for p in found.passages for s in p.sentences]
    assert [bus.text[start:end] for start, end in spans] == [
        "The fare is two.",
        "Dogs ride free.",
        "It stops.",
    ]
    fetches = len(store.fetches)
    assert documents.of(["bus"])["bus"] == found
    assert len(store.fetches) == fetches == 2


def test_absent_secret_and_failed_documents_hold_nothing() -> None:
    store, _ = library()
    store.put(ScriptedDocument("secret", [["Closed."]], access=("board",)))
    failed = ScriptedDocument("broken", [], status=DocumentStatus.FAILED)
    failed.entry = failed.entry.model_copy(
        update={"error": StageError(stage="passages", type="ReadingError", message="too long")}
    )
    store.put(failed)
    found = IndexedDocuments(store, "files", Principal()).of(["gone", "secret", "broken"])
    assert [(d.state, d.passages) for d in found.values()] == [
        ("absent", ()),
        ("absent", ()),
        ("failed: passages: too long", ()),
    ]


def test_a_run_asks_the_store_only_where_something_is_missing() -> None:
    store, bus = library()
    diagnosis = FailureDiagnosis(IndexedDocuments(store, "files", Principal()))
    fare = GoldSentence(id="g", places=(Span(document_id="bus", start=0, end=16),))
    question = EvalQuestion(id="q", question="?", gold=(fare,))
    held = bus.passages[0]
    whole = EvidenceSentence(id=held.sentence_ids[0], start=0, end=16, text=held.text[:16])
    passage = kept("a", 0).model_copy(
        update={"document_id": "bus", "passage_id": held.id, "sentences": (whole,)}
    )
    assert diagnosis(question, evidence(passage), None) == ()
    assert diagnosis(question, Evidence(), None) == ()
    assert store.fetches == []
    (miss,) = diagnosis(question, evidence(), None)
    assert (miss.stage, miss.text) == ("not_retrieved", "The fare is two.")
    assert store.fetches
