"""Failure diagnosis at scale: where each missed gold sentence was lost [1].

The single question is :mod:`resin_es.query.diagnose`'s; here its stages are told for every
gold sentence of a run, by character position instead of by words.
"""

from __future__ import annotations

from collections.abc import Iterable

from resin_es.evaluation.align import SHARE, covered_characters, found_gold, merge_spans
from resin_es.evaluation.indexed import (
    Addresses,
    IndexedDocument,
    IndexedDocuments,
    IndexedPassage,
)
from resin_es.evaluation.values import EvalQuestion, Evidence, GoldSentence, Miss, Span
from resin_es.index.records import SENTENCE_KIND
from resin_es.model import Answer, EvidenceSentence, Trace
from resin_es.query.diagnose import follow
from resin_es.query.hits import Address

_LONGEST = 200
"""Characters of evidence that a miss quotes."""


# ---------------------------------------------------------------- one question, pure


def diagnose_question(
    question: EvalQuestion, evidence: Evidence, answer: Answer | None, addresses: Addresses
) -> tuple[Miss, ...]:
    """The stage at which each gold sentence was lost that the evidence lacks, or, where an
    answer was composed, that the answer does not cite. Gold order; empty for a system without
    a trace, whose steps cannot be followed.
    """
    trace = evidence.trace
    if trace is None:
        return ()
    cited = found_gold(question, _cited(evidence, answer)) if answer is not None else ()
    taken = _taken(evidence)
    misses = []
    for number, found in enumerate(found_gold(question, evidence.spans)):
        gold = question.gold[number]
        text = _gold_text(gold, addresses)
        if not found:
            misses.append(_lost(gold, trace, addresses).model_copy(update=_quotes(text, taken)))
        elif answer is not None and not cited[number]:
            misses.append(_unused(gold, answer).model_copy(update=_quotes(text, _quoted(answer))))
    return tuple(misses)


def _quotes(text: str, taken: str) -> dict[str, str]:
    return {"text": _short(text), "taken": _short(taken)}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"


def _lost(gold: GoldSentence, trace: Trace, addresses: Addresses) -> Miss:
    expected = [c for place in gold.places for c in _holders(place, addresses)]
    if not expected:
        return Miss(gold_id=gold.id, stage="not_indexed", detail=_absent(gold, addresses))
    stage, details = follow(trace, expected, whole=False)
    retrieved = details.get("retrieved", "")
    if stage in ("not_used", "used"):
        part = "Only a part of it lies in the buffer: less than half of its characters."
        return Miss(gold_id=gold.id, stage="not_selected", detail=f"{retrieved} {part}".strip())
    if stage == "not_retrieved":
        keys = {candidate.document_key for candidate in expected}
        if any(p.document_key in keys and not p.reason for p in trace.passages):
            detail = "Its document is in the buffer, with other passages."
            return Miss(gold_id=gold.id, stage="not_selected", detail=detail)
        detail = f"{retrieved} {_near(trace, keys)}".strip()
        return Miss(gold_id=gold.id, stage="not_retrieved", detail=detail)
    detail = f"{retrieved} {details.get('selected', '')}".strip()
    return Miss(gold_id=gold.id, stage="not_selected", detail=detail)


def _near(trace: Trace, keys: set[str]) -> str:
    """Whether the right document was found by another part of it."""
    ranks = [
        (rank, hop.hop.id)
        for hop in trace.hops
        for rank, candidate in enumerate(hop.candidates, start=1)
        if candidate.document_key in keys
    ]
    if ranks:
        rank, hop_id = min(ranks)
        return f"Another part of its document: {hop_id} at rank {rank}."
    by_text = [n for n, (key, _) in enumerate(trace.document_hits, start=1) if key in keys]
    return f"Its document by title and text: rank {by_text[0]}." if by_text else ""


def _holders(place: Span, addresses: Addresses) -> list[Address]:
    """The addresses of the sentences that stand in ``place``, if together they cover enough of
    it to count."""
    document = addresses.get(place.document_id)
    if document is None:
        return []
    holding = [
        (passage, sentence)
        for passage in document.passages
        for sentence in passage.sentences
        if min(sentence.end, place.end) > max(sentence.start, place.start)
    ]
    if _covered(place, [sentence for _, sentence in holding]) < SHARE:
        return []
    return [
        Address(
            address_id=sentence.id,
            kind=SENTENCE_KIND,
            passage_id=passage.passage_id,
            document_key=passage.document_key,
            document_id=place.document_id,
            source="",
            sentence_ids=(sentence.id,),
            score=0.0,
        )
        for passage, sentence in holding
    ]


def _covered(place: Span, sentences: Iterable[EvidenceSentence]) -> float:
    spans = [Span(document_id=place.document_id, start=s.start, end=s.end) for s in sentences]
    merged = merge_spans(spans).get(place.document_id, ())
    return covered_characters(merged, place.start, place.end) / max(1, place.end - place.start)


def _absent(gold: GoldSentence, addresses: Addresses) -> str:
    place = gold.places[0]
    document = addresses.get(place.document_id)
    if document is None or document.state == "absent":
        return f"Document {place.document_id} is not in the index."
    if not document.passages:
        return f"Document {place.document_id} holds no evidence: {document.state}."
    covered = _covered(place, [s for p in document.passages for s in p.sentences])
    return (
        f"No address holds characters {place.start} to {place.end} of document "
        f"{place.document_id} ({covered:.0%} of them stand in one)."
    )


def _gold_text(gold: GoldSentence, addresses: Addresses) -> str:
    for place in gold.places:
        document = addresses.get(place.document_id)
        texts = [
            sentence.text
            for passage in (document.passages if document else ())
            for sentence in passage.sentences
            if min(sentence.end, place.end) > max(sentence.start, place.start)
        ]
        if texts:
            return " ".join(texts)
    return ""


def _taken(evidence: Evidence) -> str:
    """The start of what stands first in the evidence."""
    if not evidence.passages:
        return evidence.text
    first = evidence.passages[0]
    return f"{first.title}: {first.text}" if first.title else first.text


def _cited(evidence: Evidence, answer: Answer) -> list[Span]:
    places = {
        (passage.passage_id, s.id): Span(document_id=passage.document_id, start=s.start, end=s.end)
        for passage in evidence.passages
        for s in passage.sentences
    }
    named = [
        (citation.passage_id, sentence_id)
        for citation in answer.citations
        if not citation.void
        for sentence_id in citation.sentence_ids
    ]
    return [places[pair] for pair in named if pair in places]


def _quoted(answer: Answer) -> str:
    return next((c.quote for c in answer.citations if not c.void), answer.text)


def _unused(gold: GoldSentence, answer: Answer) -> Miss:
    valid = sum(not citation.void for citation in answer.citations)
    if not answer.found:
        detail = "In the evidence, but the answer says that nothing there answers the question."
    elif valid:
        detail = f"In the evidence, but the answer cites {valid} other place(s)."
    else:
        detail = "In the evidence, but the answer cites nothing."
    return Miss(gold_id=gold.id, stage="not_used", detail=detail)


class FailureDiagnosis:
    """A run's ``diagnose``: looks up where the gold of a question stands, then classes."""

    def __init__(self, documents: IndexedDocuments) -> None:
        self._documents = documents

    def __call__(
        self, question: EvalQuestion, evidence: Evidence, answer: Answer | None
    ) -> tuple[Miss, ...]:
        """Raises StoreError."""
        if evidence.trace is None:
            return ()
        if answer is None and all(found_gold(question, evidence.spans)):
            return ()
        ids = (place.document_id for gold in question.gold for place in gold.places)
        return diagnose_question(question, evidence, answer, self._documents.of(ids))


__all__ = [
    "Addresses",
    "FailureDiagnosis",
    "IndexedDocument",
    "IndexedDocuments",
    "IndexedPassage",
    "diagnose_question",
]
