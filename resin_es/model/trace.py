"""The audit trace of one question: every step, replayable, evidence by reference only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from resin_es.model.base import Frozen
from resin_es.model.plan import Hop, Plan


class TracedCandidate(Frozen):
    """A ranked candidate without its words: they are fetched again, with the reader's rights."""

    address_id: str
    kind: str
    passage_id: str
    document_key: str
    sentence_ids: tuple[str, ...]
    score: float
    dense: float | None = None
    lexical: float | None = None


class TracedHop(Frozen):
    """One hop: the request body as sent (vector replaced by its hash), what it ranked."""

    hop: Hop
    bridged_from: tuple[str, ...] = ()
    """Address ids whose entities completed the bridge terms."""
    body: Mapping[str, Any] = Field(default_factory=dict)
    candidates: tuple[TracedCandidate, ...] = ()
    took_ms: int = 0


class TracedPassage(Frozen):
    """A passage kept (``reason`` empty) or dropped (``reason`` says why)."""

    passage_id: str
    document_key: str
    sentence_ids: tuple[str, ...] = ()
    hops: tuple[str, ...] = ()
    score: float = 0.0
    tokens: int = 0
    reason: str = ""


class TracedCitation(Frozen):
    """A citation by reference."""

    number: int
    passage_id: str
    document_key: str
    sentence_ids: tuple[str, ...]
    void: str = ""


class TracedStatement(Frozen):
    """An answer sentence: its own words only where it quotes nothing (``text``), else the
    sentences it quotes."""

    text: str = ""
    citations: tuple[int, ...] = ()


class Trace(Frozen):
    """Everything that led to an answer, without a word of the evidence itself."""

    id: str
    created_at: datetime
    question: str
    groups: tuple[str, ...] = ()
    admin: bool = False
    plan: Plan
    hops: tuple[TracedHop, ...] = ()
    document_body: Mapping[str, Any] = Field(default_factory=dict)
    document_hits: tuple[tuple[str, float], ...] = ()
    passages: tuple[TracedPassage, ...] = ()
    citations: tuple[TracedCitation, ...] = ()
    statements: tuple[TracedStatement, ...] = ()
    found: bool | None = None
    missing: tuple[str, ...] = ()
    budget: int = 0
    settings: Mapping[str, Any] = Field(default_factory=dict)
    models: Mapping[str, str] = Field(default_factory=dict)
    tokens: Mapping[str, int] = Field(default_factory=dict)
    times_ms: Mapping[str, int] = Field(default_factory=dict)
    index_generation: str = ""
