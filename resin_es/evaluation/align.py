"""Which gold stands in the evidence, and how high in a ranking, by character position. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from resin_es.evaluation.values import EvalQuestion, Span

SHARE = 0.5
"""A gold sentence counts as found when at least this share of its characters is in evidence:
the data set and our splitter do not always cut at the same place."""

Intervals = Sequence[tuple[int, int]]

Ranked = Sequence[Sequence[Span]]
"""A system's own list, best first: for each item the spans that it stands for."""


def found_gold(question: EvalQuestion, evidence: Iterable[Span]) -> tuple[bool, ...]:
    """For each gold sentence, in order, whether the evidence holds it, at any of its places."""
    wanted = {place.document_id for gold in question.gold for place in gold.places}
    merged = merge_spans(span for span in evidence if span.document_id in wanted)
    return tuple(any(_holds(merged, place) for place in gold.places) for gold in question.gold)


def _holds(merged: Mapping[str, Intervals], place: Span) -> bool:
    covered = covered_characters(merged.get(place.document_id, ()), place.start, place.end)
    return _is_enough(covered, place)


def _is_enough(covered: int, place: Span) -> bool:
    return covered > 0 and covered >= SHARE * (place.end - place.start)


def gold_documents(question: EvalQuestion) -> tuple[frozenset[str], ...]:
    """The documents that hold the gold, in the order of the gold sentences. Each stands with its
    copies: a document that holds every gold sentence of it is as good as it."""
    holders: dict[str, frozenset[str]] = {}
    for gold in question.gold:
        own = gold.places[0].document_id
        here = frozenset(place.document_id for place in gold.places)
        holders[own] = holders[own] & here if own in holders else here
    return tuple(holders.values())


def documents_found(question: EvalQuestion, evidence: Iterable[Span]) -> tuple[bool, ...]:
    """For each gold document, as ``gold_documents`` orders them, whether any of its text is in
    evidence."""
    seen = {span.document_id for span in evidence if span.start < span.end}
    return tuple(not seen.isdisjoint(copies) for copies in gold_documents(question))


def sentence_ranks(question: EvalQuestion, ranked: Ranked) -> tuple[int, ...]:
    """For each gold sentence the 1-based rank at which a reader of the list holds it: where the
    items up to there, together, cover SHARE of one of its places; 0 where all do not.

    Together and not each alone, so that recall at k is what evidence of the first k items would
    be judged to hold, and a system that ranks half sentences is judged like one that ranks
    whole ones.
    """
    by_document: dict[str, list[tuple[int, int, int]]] = {}
    wanted = {place.document_id for gold in question.gold for place in gold.places}
    for rank, item in enumerate(ranked, 1):
        for span in item:
            if span.document_id in wanted:
                by_document.setdefault(span.document_id, []).append((rank, span.start, span.end))
    return tuple(
        min(filter(None, (_rank(by_document, place) for place in gold.places)), default=0)
        for gold in question.gold
    )


def _rank(by_document: Mapping[str, Sequence[tuple[int, int, int]]], place: Span) -> int:
    seen: list[tuple[int, int]] = []
    for rank, start, end in by_document.get(place.document_id, ()):
        if start < place.end and end > place.start:
            seen.append((start, end))
            covered = covered_characters(_merged(seen), place.start, place.end)
            if _is_enough(covered, place):
                return rank
    return 0


def document_ranks(question: EvalQuestion, ranked: Ranked) -> tuple[int, ...]:
    """For each gold document, as ``gold_documents`` orders them, the 1-based rank of the first
    item with any of its text; 0 where none has."""
    documents = gold_documents(question)
    wanted = frozenset().union(*documents)
    first: dict[str, int] = {}
    for rank, item in enumerate(ranked, 1):
        for span in item:
            if span.document_id in wanted and span.start < span.end:
                first.setdefault(span.document_id, rank)
    return tuple(
        min((first[copy] for copy in copies if copy in first), default=0) for copies in documents
    )


def covered_characters(intervals: Intervals, start: int, end: int) -> int:
    """How many of the characters from ``start`` to ``end`` lie in disjoint ``intervals``."""
    return sum(max(0, min(end, last) - max(start, first)) for first, last in intervals)


def merge_spans(spans: Iterable[Span]) -> dict[str, list[tuple[int, int]]]:
    """Disjoint, sorted intervals per document, so that no character counts twice."""
    by_document: dict[str, list[tuple[int, int]]] = {}
    for span in spans:
        by_document.setdefault(span.document_id, []).append((span.start, span.end))
    return {document: _merged(intervals) for document, intervals in by_document.items()}


def _merged(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged
