"""Baselines that share our index: BM25 and dense, both over plain sentences.

The request bodies are pure. Whatever runs them comes in as two callables, so that the baseline
and RESIN ask the same node for the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from resin_es.evaluation.datasets import Span
from resin_es.evaluation.packing import pack
from resin_es.index.filters import Filters, address_filter
from resin_es.index.records import SENTENCE_KIND, passage_from
from resin_es.model import Principal
from resin_es.ports import FetchedEvidence, SearchHit, UnitStore

POOL = 200
"""Sentences a baseline ranks: 2,000 tokens hold about 35 of them."""

NUM_CANDIDATES = 2000
"""Wide enough that the approximate search loses next to nothing: the baseline's best face."""

_FIELDS = ["document_key", "document_id", "passage_id", "sentence_ids"]

MakeBody = Callable[[str], dict[str, Any]]
Search = Callable[[dict[str, Any]], Sequence[SearchHit]]
Locate = Callable[[Sequence[SearchHit]], Sequence[Span]]


def _only_sentences(principal: Principal, sources: Sequence[str]) -> list[dict[str, Any]]:
    return address_filter(principal, Filters(sources=tuple(sources), kinds=(SENTENCE_KIND,)))


def bm25_body(
    question: str, principal: Principal, sources: Sequence[str], size: int = POOL
) -> dict[str, Any]:
    """BM25 of the question's words over sentence texts."""
    return {
        "size": size,
        "_source": _FIELDS,
        "query": {
            "bool": {
                "filter": _only_sentences(principal, sources),
                "must": [{"match": {"statement": {"query": question}}}],
            }
        },
    }


def dense_body(
    vector: Sequence[float], principal: Principal, sources: Sequence[str], size: int = POOL
) -> dict[str, Any]:
    """Nearest sentence vectors by cosine."""
    return {
        "size": size,
        "_source": _FIELDS,
        "knn": {
            "field": "vector",
            "query_vector": [float(value) for value in vector],
            "k": size,
            "num_candidates": max(size, NUM_CANDIDATES),
            "filter": _only_sentences(principal, sources),
        },
    }


def locate_sentences(hits: Sequence[SearchHit], fetched: FetchedEvidence) -> list[Span]:
    """Where the hit sentences stand in their documents' texts, in the hits' order. A sentence
    whose passage is no longer current is left out."""
    spans: list[Span] = []
    for hit in hits:
        body = fetched.passages.get(hit.source["passage_id"])
        entry = fetched.entries.get(hit.source["document_key"])
        if body is None or entry is None:
            continue
        passage = passage_from(hit.source["passage_id"], body)
        starts = [ref.start for ref in entry.passages if ref.id == passage.id]
        if starts:
            offsets = dict(zip(passage.sentence_ids, passage.offsets, strict=True))
            first, last = offsets[hit.source["sentence_ids"][0]]
            spans.append(
                Span(document_id=entry.external_id, start=starts[0] + first, end=starts[0] + last)
            )
    return spans


class SentenceBaseline:
    """Ranked sentences packed into the budget. An ``EvalSystem``.

    The ranking of the last question is kept, so that asking it at several budgets costs one
    search.
    """

    def __init__(self, name: str, body: MakeBody, search: Search, locate: Locate) -> None:
        self.name = name
        self._body, self._search, self._locate = body, search, locate
        self._last: tuple[str, Sequence[Span]] | None = None

    def evidence(self, question: str, budget: int) -> list[Span]:
        """Spans of the best sentences within ``budget`` tokens. Raises StoreError, ModelError."""
        if self._last is None or self._last[0] != question:
            hits = self._search(self._body(question))
            self._last = (question, self._locate(hits))
        return pack(self._last[1], budget)


def sentence_baselines(
    store: UnitStore,
    embed: Callable[[str], Sequence[float]],
    principal: Principal,
    sources: Sequence[str],
) -> tuple[SentenceBaseline, SentenceBaseline]:
    """BM25 and dense over the sentences of ``sources`` in ``store``. ``embed`` gives the vector
    of one text, by the model that the index was built with."""

    def search(body: dict[str, Any]) -> Sequence[SearchHit]:
        return store.search([body], None)[0][0].hits

    def locate(hits: Sequence[SearchHit]) -> Sequence[Span]:
        passages = list(dict.fromkeys(hit.source["passage_id"] for hit in hits))
        keys = list(dict.fromkeys(hit.source["document_key"] for hit in hits))
        return locate_sentences(hits, store.fetch(passages, keys)) if hits else []

    def bm25(question: str) -> dict[str, Any]:
        return bm25_body(question, principal, sources)

    def dense(question: str) -> dict[str, Any]:
        return dense_body(embed(question), principal, sources)

    return (
        SentenceBaseline("BM25 sentences", bm25, search, locate),
        SentenceBaseline("dense sentences", dense, search, locate),
    )
