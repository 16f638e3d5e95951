"""A kept trace as one reader may see it: evidence is fetched again and fenced again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resin_es.model import Plan, Principal, Trace
from resin_es.model.base import Frozen
from resin_es.ports import UnitStore
from resin_es.query.fence import Fenced, fence

WITHHELD, STALE = "withheld", "stale"


class ShownEvidence(Frozen):
    """A reference of the trace, resolved. ``state`` is empty where ``text`` may be shown,
    ``withheld`` where this reader may not read it, ``stale`` where it no longer stands."""

    state: str = ""
    document_id: str = ""
    title: str = ""
    passage_id: str = ""
    text: str = ""


class ShownCandidate(Frozen):
    """A ranked candidate of a hop."""

    kind: str
    score: float
    dense: float | None = None
    lexical: float | None = None
    evidence: ShownEvidence


class ShownHop(Frozen):
    """A hop: what it asked, what it sent, what it ranked."""

    id: str
    question: str
    reasoning_type: str
    depends_on: tuple[str, ...] = ()
    bridged_from: tuple[str, ...] = ()
    body: Mapping[str, Any]
    candidates: tuple[ShownCandidate, ...] = ()
    took_ms: int = 0


class ShownPassage(Frozen):
    """A passage kept (``reason`` empty) or dropped."""

    evidence: ShownEvidence
    hops: tuple[str, ...] = ()
    score: float = 0.0
    tokens: int = 0
    reason: str = ""


class ShownCitation(Frozen):
    """A numbered citation."""

    number: int
    evidence: ShownEvidence
    void: str = ""


class ShownTrace(Frozen):
    """A trace for one reader. ``trace`` holds everything that carries no evidence."""

    id: str
    created_at: str
    question: str
    plan: Plan
    hops: tuple[ShownHop, ...]
    passages: tuple[ShownPassage, ...]
    citations: tuple[ShownCitation, ...]
    statements: tuple[str, ...] = ()
    found: bool | None = None
    missing: tuple[str, ...] = ()
    budget: int = 0
    document_body: Mapping[str, Any]
    settings: Mapping[str, Any]
    models: Mapping[str, str]
    tokens: Mapping[str, int]
    times_ms: Mapping[str, int]


def fetch_referenced(trace: Trace, store: UnitStore, principal: Principal) -> Fenced:
    """All passages that the trace refers to, fetched and fenced in one go."""
    pairs: dict[str, str] = {}
    for hop in trace.hops:
        pairs.update({c.passage_id: c.document_key for c in hop.candidates})
    pairs.update({p.passage_id: p.document_key for p in trace.passages if p.document_key})
    pairs.update({c.passage_id: c.document_key for c in trace.citations})
    if not pairs:
        return Fenced({}, frozenset(), frozenset())
    fetched = store.fetch(list(pairs), list(dict.fromkeys(pairs.values())))
    return fence(fetched, pairs.items(), principal)


def shown(trace: Trace, fenced: Fenced) -> ShownTrace:
    """The trace with its references resolved by ``fenced``. Pure."""
    return ShownTrace(
        id=trace.id,
        created_at=trace.created_at.isoformat(),
        question=trace.question,
        plan=trace.plan,
        hops=tuple(
            ShownHop(
                id=hop.hop.id,
                question=hop.hop.retrieval_text,
                reasoning_type=hop.hop.reasoning_type.value,
                depends_on=hop.hop.depends_on,
                bridged_from=hop.bridged_from,
                body=hop.body,
                candidates=tuple(
                    ShownCandidate(
                        kind=c.kind,
                        score=c.score,
                        dense=c.dense,
                        lexical=c.lexical,
                        evidence=_evidence(fenced, c.passage_id, c.sentence_ids),
                    )
                    for c in hop.candidates
                ),
                took_ms=hop.took_ms,
            )
            for hop in trace.hops
        ),
        passages=tuple(
            ShownPassage(
                evidence=_evidence(fenced, p.passage_id, p.sentence_ids),
                hops=p.hops,
                score=p.score,
                tokens=p.tokens,
                reason=p.reason,
            )
            for p in trace.passages
        ),
        citations=tuple(
            ShownCitation(
                number=c.number,
                evidence=_evidence(fenced, c.passage_id, c.sentence_ids),
                void=c.void,
            )
            for c in trace.citations
        ),
        statements=tuple(_statement(s.text, s.citations) for s in trace.statements),
        found=trace.found,
        missing=trace.missing,
        budget=trace.budget,
        document_body=trace.document_body,
        settings=trace.settings,
        models=trace.models,
        tokens=trace.tokens,
        times_ms=trace.times_ms,
    )


def _statement(text: str, citations: Sequence[int]) -> str:
    marks = " ".join(f"[{number}]" for number in citations)
    return f"{text} {marks}".strip()


def _evidence(fenced: Fenced, passage_id: str, sentence_ids: Sequence[str]) -> ShownEvidence:
    source = fenced.sources.get(passage_id)
    if source is None:
        if passage_id in fenced.stale:
            return ShownEvidence(state=STALE, passage_id=passage_id)
        return ShownEvidence(state=WITHHELD)
    wanted = [s for s in source.sentences if s.id in sentence_ids] or list(source.sentences)
    return ShownEvidence(
        document_id=source.entry.external_id,
        title=source.entry.title,
        passage_id=passage_id,
        text=" ".join(sentence.text for sentence in wanted),
    )
