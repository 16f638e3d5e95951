"""A kept trace as one reader may see it: evidence is fetched again and fenced again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resin_es.model import ModelUse, Plan, Principal, Trace
from resin_es.model.base import Frozen
from resin_es.model.trace import TracedHop, TracedSolution, TracedStatement
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
    """A ranked candidate of a hop; ``multilingual`` where its second vector brought it."""

    kind: str
    score: float
    dense: float | None = None
    lexical: float | None = None
    multilingual: bool = False
    evidence: ShownEvidence


class ShownSolution(Frozen):
    """A hop's local answer. ``state`` as in :class:`ShownEvidence`: ``text`` and ``problem`` are
    empty where something that they rest on may not be read, or stands no longer."""

    solver: str
    state: str = ""
    text: str = ""
    found: bool = False
    evidence: tuple[ShownEvidence, ...] = ()
    rejected: tuple[str, ...] = ()
    problem: str = ""
    use: ModelUse | None = None


class ShownHop(Frozen):
    """A hop: what it asked, what it sent, what it ranked, and its local answer, if it was
    solved."""

    id: str
    question: str
    reasoning_type: str
    depends_on: tuple[str, ...] = ()
    bridged_from: tuple[str, ...] = ()
    body: Mapping[str, Any]
    candidates: tuple[ShownCandidate, ...] = ()
    took_ms: int = 0
    solution: ShownSolution | None = None


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
    """A trace for one reader. ``statements`` are sentences of the answer, in words where these
    are the composer's own and all that they rest on may be read; ``rejected`` is what the
    composer cited that it was not given."""

    id: str
    created_at: str
    question: str
    plan: Plan
    hops: tuple[ShownHop, ...]
    passages: tuple[ShownPassage, ...]
    citations: tuple[ShownCitation, ...]
    statements: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    found: bool | None = None
    missing: tuple[str, ...] = ()
    budget: int = 0
    document_body: Mapping[str, Any]
    settings: Mapping[str, Any]
    models: Mapping[str, str]
    tokens: Mapping[str, int | float]
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
        hops=tuple(_hop(hop, fenced) for hop in trace.hops),
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
        statements=tuple(_statement(s, trace, fenced) for s in trace.statements if not s.note),
        rejected=tuple(marker for s in trace.statements for marker in s.rejected),
        notes=tuple(s.note for s in trace.statements if s.note),
        found=trace.found,
        missing=trace.missing,
        budget=trace.budget,
        document_body=trace.document_body,
        settings=trace.settings,
        models=trace.models,
        tokens=trace.tokens,
        times_ms=trace.times_ms,
    )


def _hop(hop: TracedHop, fenced: Fenced) -> ShownHop:
    return ShownHop(
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
                multilingual=c.multilingual,
                evidence=_evidence(fenced, c.passage_id, c.sentence_ids),
            )
            for c in hop.candidates
        ),
        took_ms=hop.took_ms,
        solution=_solution(hop.solution, fenced) if hop.solution else None,
    )


def _statement(said: TracedStatement, trace: Trace, fenced: Fenced) -> str:
    """A sentence in the composer's own words, if all that it rests on may be read: what it
    cites, or, where it cites nothing, everything that the composer saw. Else its marks."""
    marks = " ".join(f"[{number}]" for number in said.citations)
    if not said.text:
        return marks
    if said.citations:
        rests_on = [c.passage_id for c in trace.citations if c.number in said.citations]
    else:
        rests_on = [p.passage_id for p in trace.passages if not p.reason]
    state = _state(rests_on, fenced)
    return said.text if not state else f"({state}) {marks}".strip()


def _solution(told: TracedSolution, fenced: Fenced) -> ShownSolution:
    state = _state([ref.passage_id for ref in told.rests_on], fenced)
    cited = [ref for ref in told.rests_on if ref.number in told.records]
    return ShownSolution(
        solver=told.solver,
        state=state,
        text="" if state else told.text,
        found=told.found,
        evidence=tuple(_evidence(fenced, ref.passage_id, ref.sentence_ids) for ref in cited),
        rejected=told.rejected,
        problem="" if state else told.problem,
        use=told.use,
    )


def _state(passage_ids: Sequence[str], fenced: Fenced) -> str:
    """Empty where all of the passages may be shown."""
    if all(name in fenced.sources for name in passage_ids):
        return ""
    stale = all(name in fenced.sources or name in fenced.stale for name in passage_ids)
    return STALE if stale else WITHHELD


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
