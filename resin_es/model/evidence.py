"""What retrieval passes on: candidates, the evidence buffer, what was dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from resin_es.model.base import Frozen
from resin_es.model.plan import Hop


class Candidate(Frozen):
    """One address a hop hit. ``kind`` is a unit kind or ``"sentence"``. ``dense`` and
    ``lexical`` are the two parts of the score where the server tells them apart (cosine in
    [0, 1] as Elasticsearch maps it; BM25, unbounded); ``score`` is our fusion of them.
    ``multilingual``: its vector by the multilingual encoder was hit, whose cosine is put on the
    scale of the first one's."""

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


class DocumentHit(Frozen):
    """A document found by its own title and text (the plan's one lexical search)."""

    document_key: str
    score: float


class HopResult(Frozen):
    """What one hop found. ``body`` is the request as sent (its vector by reference)."""

    hop: Hop
    bridged_with: tuple[str, ...] = ()
    body: Mapping[str, Any] = Field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    took_ms: int = 0


class EvidenceSentence(Frozen):
    """A sentence of the buffer. ``start``/``end`` are offsets in the document's text."""

    id: str
    start: int
    end: int
    text: str


class EvidencePassage(Frozen):
    """A source passage, or the part of it that fits the budget, in the buffer."""

    passage_id: str
    document_key: str
    document_id: str
    source: str
    title: str = ""
    url: str | None = None
    text: str
    """The passage's text from its first kept sentence to its last kept one."""
    sentences: tuple[EvidenceSentence, ...] = Field(min_length=1)
    tokens: int
    hops: tuple[str, ...] = ()
    score: float = 0.0
    complete: bool = True
    """False where the budget cut sentences off."""


class Dropped(Frozen):
    """A passage that a hop found and the buffer does not hold, and why."""

    passage_id: str
    document_id: str
    reason: str
    """``budget``, ``duplicate``, ``rank``, ``stale`` (a newer version stands) or ``access``."""
    hops: tuple[str, ...] = ()
    score: float = 0.0


class EvidenceBuffer(Frozen):
    """B(q): the selected source passages, in the order the composer reads them."""

    passages: tuple[EvidencePassage, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    budget: int
    tokens: int = 0
