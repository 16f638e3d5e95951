"""The audit trace of one question: every step, replayable, evidence by reference only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from resin_es.model.base import Frozen
from resin_es.model.plan import Hop, Plan
from resin_es.model.use import ModelUse


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
    multilingual: bool = False


class TracedCitation(Frozen):
    """A citation by reference."""

    number: int
    passage_id: str
    document_key: str
    sentence_ids: tuple[str, ...]
    void: str = ""


class TracedSolution(Frozen):
    """A hop's local answer, made for the trace alone. Its words are a model's own, made from
    what ``rests_on`` refers to, and are shown only to who may read all of that. ``records`` are
    the numbers among its candidates that it cites, ``rejected`` those that were not given;
    ``problem`` says why there is no answer, maybe in some words of the model's."""

    solver: str
    text: str = ""
    found: bool = False
    records: tuple[int, ...] = ()
    rests_on: tuple[TracedCitation, ...] = ()
    rejected: tuple[str, ...] = ()
    problem: str = ""
    use: ModelUse | None = None


class TracedHop(Frozen):
    """One hop: the request body as asked (its vector by a hash; how a store reads what hits bring
    is its own affair), what it ranked."""

    hop: Hop
    bridged_from: tuple[str, ...] = ()
    """Address ids whose entities completed the bridge terms."""
    body: Mapping[str, Any] = Field(default_factory=dict)
    candidates: tuple[TracedCandidate, ...] = ()
    took_ms: int = 0
    solution: TracedSolution | None = None
    """The hop's local answer, once somebody had it solved."""


class TracedPassage(Frozen):
    """A passage kept (``reason`` empty) or dropped (``reason`` says why)."""

    passage_id: str
    document_key: str
    sentence_ids: tuple[str, ...] = ()
    hops: tuple[str, ...] = ()
    score: float = 0.0
    tokens: int = 0
    reason: str = ""


class TracedStatement(Frozen):
    """An answer sentence. Its words only where they are the composer's own (``text``); one that
    quotes a source is told by its citations alone. ``note`` stands in place of a sentence: a
    remark on the answer as a whole, or why there is none."""

    text: str = ""
    citations: tuple[int, ...] = ()
    rejected: tuple[str, ...] = ()
    note: str = ""


class Trace(Frozen):
    """Everything that led to an answer. Evidence stands in it by reference alone; what a model
    wrote from evidence stands in its own words, and is shown only to who may read the evidence.
    ``tokens`` counts them by stage; ``STAGE_dollars`` is what a stage cost."""

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
    tokens: Mapping[str, int | float] = Field(default_factory=dict)
    times_ms: Mapping[str, int] = Field(default_factory=dict)
    index_generation: str = ""
