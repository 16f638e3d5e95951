"""Which gold sentences stand in the evidence, by character position. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from resin_es.evaluation.datasets import EvalQuestion, Span

SHARE = 0.5
"""A gold sentence counts as found when at least this share of its characters is in evidence:
the data set and our splitter do not always cut at the same place."""

Intervals = Sequence[tuple[int, int]]


def found_gold(question: EvalQuestion, evidence: Iterable[Span]) -> tuple[bool, ...]:
    """For each gold sentence, in order, whether the evidence holds it, at any of its places."""
    merged = merge_spans(evidence)
    return tuple(any(_holds(merged, place) for place in gold.places) for gold in question.gold)


def _holds(merged: Mapping[str, Intervals], place: Span) -> bool:
    covered = covered_characters(merged.get(place.document_id, ()), place.start, place.end)
    return covered > 0 and covered >= SHARE * (place.end - place.start)


def covered_characters(intervals: Intervals, start: int, end: int) -> int:
    """How many of the characters from ``start`` to ``end`` lie in disjoint ``intervals``."""
    return sum(max(0, min(end, last) - max(start, first)) for first, last in intervals)


def merge_spans(spans: Iterable[Span]) -> dict[str, list[tuple[int, int]]]:
    """Disjoint, sorted intervals per document, so that no character counts twice."""
    by_document: dict[str, list[tuple[int, int]]] = {}
    for span in spans:
        by_document.setdefault(span.document_id, []).append((span.start, span.end))
    return {document: _merged(intervals) for document, intervals in by_document.items()}


def _merged(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged
