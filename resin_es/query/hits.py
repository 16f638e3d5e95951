"""Raw hits → ranked candidates. The two parts of a score are fused here, by our own rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resin_es.model import Candidate, DocumentHit
from resin_es.ports import SearchHit, SearchResponse
from resin_es.query.hop import DENSE, KIND, LEXICAL
from resin_es.query.settings import QuerySettings

_TEXTS = (
    "kind",
    "passage_id",
    "document_key",
    "document_id",
    "source",
    "statement",
    "subject",
    "object",
    "title",
)
"""What a hit says of its address, each a text; sentences lack some of it."""


def candidates(response: SearchResponse, settings: QuerySettings) -> tuple[Candidate, ...]:
    """All hits of one hop as candidates, best first, ties broken by id; ``rank`` from 1.

    Where the server names the parts, ``dense`` is the cosine in [0, 1] as Elasticsearch maps
    it and ``lexical`` is BM25. Where it does not, the order of the boosted sum serves.
    """
    hits = response.hits
    parts = [_parts(hit, settings.dense_boost) for hit in hits]
    if any(part for part in parts):
        scores = fused(parts, settings)
    else:
        scores = [1.0 - index / max(1, len(hits)) for index in range(len(hits))]
    ranked = sorted(zip(hits, parts, scores, strict=True), key=lambda item: (-item[2], item[0].id))
    return tuple(
        _candidate(hit, part, score, rank)
        for rank, (hit, part, score) in enumerate(ranked, start=1)
    )


def _parts(hit: SearchHit, boost: float) -> dict[str, float]:
    """The named parts, the kNN boost taken out again (the server reports it included)."""
    found = {name: float(value) for name, value in hit.parts.items()}
    if DENSE in found and boost > 0:
        found[DENSE] /= boost
    return found


def fused(parts: Sequence[Mapping[str, float]], settings: QuerySettings) -> list[float]:
    """One score per hit: cosine plus the weighted share of the pool's best lexical score,
    plus a little for a wanted kind.

    A hit that the vectors did not bring lies, as far as is known, at most as near as the
    farthest one that they did.
    """
    near = [part[DENSE] for part in parts if DENSE in part]
    floor = min(near, default=0.0)
    best = max((part.get(LEXICAL, 0.0) for part in parts), default=0.0) or 1.0
    return [
        2.0 * part.get(DENSE, floor)
        - 1.0
        + settings.lexical_weight * part.get(LEXICAL, 0.0) / best
        + settings.kind_weight * (KIND in part)
        for part in parts
    ]


def _candidate(hit: SearchHit, parts: Mapping[str, float], score: float, rank: int) -> Candidate:
    body = hit.source
    return Candidate(
        address_id=hit.id,
        sentence_ids=body.get("sentence_ids") or (),
        aliases=body.get("aliases") or (),
        score=score,
        dense=parts.get(DENSE),
        lexical=parts.get(LEXICAL),
        rank=rank,
        **{name: body.get(name) or "" for name in _TEXTS},
    )


def documents(response: SearchResponse | None) -> tuple[DocumentHit, ...]:
    """Documents of the lexical search, best first, ties broken by key."""
    hits = response.hits if response is not None else ()
    found = [DocumentHit(document_key=hit.id, score=hit.score) for hit in hits]
    return tuple(sorted(found, key=lambda item: (-item.score, item.document_key)))
