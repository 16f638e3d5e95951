"""Which documents, and which of their passages, a hop supports best. Pure.

Measured on the development questions: the right document decides at large budgets, the right
part of it at small ones. So documents are ordered by a fused score (their own lexical score,
their best address, the sum of their three best), and what stands in them by its own score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple

from resin_es.model import Candidate, PassageRef

TOP = 3
"""How many addresses of a document count together."""


class Helping(NamedTuple):
    """One passage as a hop ranks it. ``score`` is its best address, None where no address of
    it was hit; ``sentences`` holds the score of each sentence that was."""

    passage_id: str
    document_key: str
    score: float | None
    sentences: Mapping[str, float]


def document_scores(found: Sequence[Candidate], lexical: Mapping[str, float]) -> dict[str, float]:
    """The fused score of every document that an address or the document search hit: the sum
    of three standard scores. A document without one of the parts has zero there."""
    own: dict[str, dict[str, float]] = {key: {} for key in lexical}
    for candidate in found:
        best = own.setdefault(candidate.document_key, {})
        for sentence_id in candidate.sentence_ids or (candidate.address_id,):
            best[sentence_id] = max(candidate.score, best.get(sentence_id, candidate.score))
    keys = sorted(own)
    tops = [sorted(own[key].values(), reverse=True)[:TOP] for key in keys]
    parts = (
        standard([lexical.get(key, 0.0) for key in keys]),
        standard([top[0] if top else 0.0 for top in tops]),
        standard([sum(top) for top in tops]),
    )
    return {key: sum(part[index] for part in parts) for index, key in enumerate(keys)}


def standard(values: Sequence[float]) -> list[float]:
    """Centred and scaled to unit spread; all zero where nothing differs."""
    if not values:
        return []
    mean, spread = fmean(values), pstdev(values)
    return [(value - mean) / spread if spread > 1e-12 else 0.0 for value in values]


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Keys by score, best first, ties broken by key."""
    return sorted(scores, key=lambda key: (-scores[key], key))


def helpings(
    found: Sequence[Candidate],
    order: Sequence[str],
    current: Mapping[str, Sequence[PassageRef]],
    *,
    whole: bool,
) -> list[Helping]:
    """A hop's passages in the order of their documents, best first within each.

    ``current`` holds the passages that the registry lists; a document that is not in it
    yields none. With ``whole``, passages of a document that nothing hit follow those that
    were hit, in text order: a document is worth reading to its end before a worse one.
    """
    by_document: dict[str, dict[str, list[Candidate]]] = {}
    for candidate in found:
        passages = by_document.setdefault(candidate.document_key, {})
        passages.setdefault(candidate.passage_id, []).append(candidate)
    result: list[Helping] = []
    for key in order:
        refs = current.get(key, ())
        listed = {ref.id for ref in refs}
        hit = [
            _helping(passage_id, key, candidates)
            for passage_id, candidates in by_document.get(key, {}).items()
            if passage_id in listed
        ]
        result.extend(sorted(hit, key=lambda item: (-(item.score or 0.0), item.passage_id)))
        if whole:
            known = {item.passage_id for item in hit}
            result.extend(Helping(ref.id, key, None, {}) for ref in refs if ref.id not in known)
    return result


def _helping(passage_id: str, key: str, candidates: Iterable[Candidate]) -> Helping:
    scores: dict[str, float] = {}
    best = float("-inf")
    for candidate in candidates:
        best = max(best, candidate.score)
        for sentence_id in candidate.sentence_ids:
            scores[sentence_id] = max(candidate.score, scores.get(sentence_id, float("-inf")))
    return Helping(passage_id, key, best, scores)
