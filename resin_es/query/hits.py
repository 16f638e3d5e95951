"""Raw hits → ranked addresses. The two parts of a score are fused here, by our own rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from resin_es.model import Candidate, DocumentHit
from resin_es.ports import SearchHit, SearchResponse
from resin_es.query.background import Elsewhere
from resin_es.query.hop import DENSE, KIND, LEXICAL, MULTILINGUAL
from resin_es.query.settings import QuerySettings

SPREAD = 1.3
"""How far a second vector's hits lie from their middle, beside those of the first one, in the
standard deviations of each."""


FEW = 20
"""Hits of a second vector below which they are not measured by each other."""


class Address(NamedTuple):
    """An address as a hop hit it, with the fields of a ``Candidate``. A plain tuple: a hop's pool
    holds hundreds, few of which are handed out."""

    address_id: str
    kind: str
    passage_id: str
    document_key: str
    document_id: str
    source: str
    sentence_ids: tuple[str, ...]
    score: float
    dense: float | None = None
    lexical: float | None = None
    rank: int = 0
    statement: str = ""
    subject: str = ""
    object: str = ""
    aliases: tuple[str, ...] = ()
    title: str = ""
    multilingual: bool = False

    def candidate(self) -> Candidate:
        """The address as it is handed out."""
        return Candidate(**self._asdict())


def ranked(
    response: SearchResponse, settings: QuerySettings, elsewhere: Elsewhere | None = None
) -> tuple[Address, ...]:
    """All hits of one hop, best first, ties broken by id; ``rank`` from 1.

    Where the server names the parts, ``dense`` is the cosine in [0, 1] as Elasticsearch maps
    it and ``lexical`` is BM25; what a second vector brought is ``multilingual``, and its cosine
    is put on the scale of the others, with ``elsewhere`` where they are few. Where the server
    does not, the order of the boosted sum serves.
    """
    hits = response.hits
    parts = comparable([_parts(hit, settings.dense_boost) for hit in hits], elsewhere)
    if any(parts):
        scores = fused(parts, settings)
    else:
        scores = [1.0 - index / max(1, len(hits)) for index in range(len(hits))]
    order = sorted(range(len(hits)), key=lambda index: (-scores[index], hits[index].id))
    return tuple(
        _address(hits[index], parts[index], scores[index], rank)
        for rank, index in enumerate(order, start=1)
    )


def _parts(hit: SearchHit, boost: float) -> Mapping[str, float]:
    """The named parts, the kNN boost taken out again (the server reports it included)."""
    near = [name for name in (DENSE, MULTILINGUAL) if name in hit.parts]
    if not near or boost <= 0:
        return hit.parts
    return {**hit.parts, **{name: hit.parts[name] / boost for name in near}}


def comparable(
    parts: Sequence[Mapping[str, float]], elsewhere: Elsewhere | None = None
) -> Sequence[Mapping[str, float]]:
    """The parts, every hit of a second vector with the cosine that it would have beside those of
    the first one; the nearer of the two where it has both.

    Two encoders share no scale: one calls .3 near and the other .85. What they do share is that
    each names its nearest, so that a hit is placed by how far it lies from the middle of its own.
    Of ``FEW`` hits the middle tells nothing: the nearest of two lies as far from it as the other,
    whatever was asked. Then the middle is that of ``elsewhere``, if it is known.
    """
    own = [part[DENSE] for part in parts if DENSE in part]
    second = [part[MULTILINGUAL] for part in parts if MULTILINGUAL in part]
    if not second:
        return parts
    if not own:
        return [
            {**part, DENSE: part[MULTILINGUAL]} if MULTILINGUAL in part else part for part in parts
        ]
    middle, width = middle_of(own)
    other, spread = middle_of(elsewhere() if elsewhere and len(second) < FEW else second)
    scale = SPREAD * width / spread if spread > 1e-9 else 0.0
    placed = (
        min(1.0, middle + scale * (part[MULTILINGUAL] - other)) if MULTILINGUAL in part else 0.0
        for part in parts
    )
    return [
        {**part, DENSE: max(value, part.get(DENSE, 0.0))} if MULTILINGUAL in part else part
        for part, value in zip(parts, placed, strict=True)
    ]


def middle_of(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation of at least one value."""
    mean = fmean(values)
    return mean, sqrt(fmean((value - mean) ** 2 for value in values))


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


def _address(hit: SearchHit, parts: Mapping[str, float], score: float, rank: int) -> Address:
    """What a hit says of its address; sentences lack some of it."""
    told = hit.source.get
    return Address(
        hit.id,
        told("kind") or "",
        told("passage_id") or "",
        told("document_key") or "",
        told("document_id") or "",
        told("source") or "",
        tuple(told("sentence_ids") or ()),
        score,
        parts.get(DENSE),
        parts.get(LEXICAL),
        rank,
        told("statement") or "",
        told("subject") or "",
        told("object") or "",
        tuple(told("aliases") or ()),
        told("title") or "",
        MULTILINGUAL in parts,
    )


def documents(response: SearchResponse | None) -> tuple[DocumentHit, ...]:
    """Documents of the lexical search, best first, ties broken by key."""
    hits = response.hits if response is not None else ()
    found = [DocumentHit(document_key=hit.id, score=hit.score) for hit in hits]
    return tuple(sorted(found, key=lambda item: (-item.score, item.document_key)))
