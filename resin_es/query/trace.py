"""The audit trace: made from a run, read with the reader's own rights, replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from resin_es.errors import AccessError, InputError
from resin_es.model import (
    Answer,
    EvidenceBuffer,
    ModelUse,
    Plan,
    Principal,
    Statement,
    Trace,
    content_id,
)
from resin_es.model.trace import (
    TracedCandidate,
    TracedCitation,
    TracedHop,
    TracedPassage,
    TracedStatement,
)

if TYPE_CHECKING:
    from resin_es.query.found import Found


def trace_id(question: str, moment: datetime, salt: str) -> str:
    """A new trace's id (16 hex characters)."""
    return content_id("trace", question, moment.isoformat(), salt, length=16)


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(timezone.utc)


def traced_hop(found: Found, planned: Mapping[str, Any]) -> TracedHop:
    """One hop by reference. A bridged hop's completion is evidence's words: the trace names
    the addresses they came from instead, and its text stands there by hash."""
    bridged = found.bridge is not None and bool(found.bridge.addresses)
    return TracedHop(
        hop=planned.get(found.hop.id, found.hop),
        bridged_from=found.bridge.addresses if found.bridge else (),
        body=without_words(found.reference) if bridged else found.reference,
        candidates=tuple(
            TracedCandidate(
                address_id=c.address_id,
                kind=c.kind,
                passage_id=c.passage_id,
                document_key=c.document_key,
                sentence_ids=c.sentence_ids,
                score=c.score,
                dense=c.dense,
                lexical=c.lexical,
                multilingual=c.multilingual,
            )
            for c in found.kept
        ),
        took_ms=found.took_ms,
    )


def without_words(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body whose searched text is replaced by its hash."""

    def hidden(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                key: hashed(item) if key == "query" and isinstance(item, str) else hidden(item)
                for key, item in value.items()
            }
        return [hidden(item) for item in value] if isinstance(value, list) else value

    result: dict[str, Any] = hidden(body)
    return result


def hashed(text: str) -> str:
    """What stands in a trace for words of the evidence."""
    return "text:" + content_id("text", text)


def traced_passages(buffer: EvidenceBuffer, keys: Mapping[str, str]) -> list[TracedPassage]:
    """What was kept, then what was dropped and why. ``keys`` maps a passage to its document."""
    kept = [
        TracedPassage(
            passage_id=p.passage_id,
            document_key=p.document_key,
            sentence_ids=tuple(s.id for s in p.sentences),
            hops=p.hops,
            score=p.score,
            tokens=p.tokens,
        )
        for p in buffer.passages
    ]
    dropped = [
        TracedPassage(
            passage_id=d.passage_id,
            document_key=keys.get(d.passage_id, ""),
            hops=d.hops,
            score=d.score,
            reason=d.reason,
        )
        for d in buffer.dropped
    ]
    return kept + dropped


def retrieval_trace(
    *,
    question: str,
    plan: Plan,
    principal: Principal,
    found: Sequence[Found],
    document_body: Mapping[str, Any],
    document_hits: Sequence[tuple[str, float]],
    buffer: EvidenceBuffer,
    keys: Mapping[str, str],
    settings: Mapping[str, Any],
    models: Mapping[str, str],
    times_ms: Mapping[str, int],
    generation: str = "",
) -> Trace:
    """The trace of a retrieval; :func:`with_answer` adds the answer to it."""
    moment = now()
    planned = {hop.id: hop for hop in plan.hops}
    salt = content_id("salt", *(str(item.reference) for item in found), *principal.terms)
    return Trace(
        id=trace_id(question, moment, salt),
        created_at=moment,
        question=question,
        groups=tuple(sorted(principal.groups)),
        admin=principal.admin,
        plan=plan,
        hops=tuple(traced_hop(item, planned) for item in found),
        document_body=document_body,
        document_hits=tuple(document_hits),
        passages=tuple(traced_passages(buffer, keys)),
        budget=buffer.budget,
        settings=settings,
        models={**models, **served("planner", plan.use, models.get("planner", ""))},
        tokens={"evidence": buffer.tokens, **spent("plan", plan.use)},
        times_ms=times_ms,
        index_generation=generation,
    )


def spent(stage: str, use: ModelUse | None) -> dict[str, int | float]:
    """What a stage took of a language model, as a trace keeps it; nothing without one."""
    if use is None:
        return {}
    return {
        stage: use.tokens,
        f"{stage}_output": use.output_tokens,
        f"{stage}_dollars": use.dollars,
    }


def served(role: str, use: ModelUse | None, name: str) -> dict[str, str]:
    """The model that answered, where its own account differs from the ``name`` asked for."""
    return {f"{role}_served": use.model} if use and not name.startswith(f"{use.model}/") else {}


def with_failure(trace: Trace, reason: str, use: ModelUse | None) -> Trace:
    """The trace of a question that was retrieved for and not answered, whatever that took."""
    note = TracedStatement(note=f"No answer was composed: {reason}")
    tokens = {**trace.tokens, **spent("compose", use)}
    return trace.model_copy(update={"statements": (note,), "tokens": tokens})


def with_answer(trace: Trace, answer: Answer, times_ms: Mapping[str, int]) -> Trace:
    """The trace with citations by reference; a statement's words only where it quotes none of
    what it cites."""
    quotes = {c.number: c.quote for c in answer.citations if c.quote}
    return trace.model_copy(
        update={
            "citations": tuple(
                TracedCitation(
                    number=c.number,
                    passage_id=c.passage_id,
                    document_key=c.document_key,
                    sentence_ids=c.sentence_ids,
                    void=c.void,
                )
                for c in answer.citations
            ),
            "statements": (
                *(_statement(s, quotes) for s in answer.statements),
                *(TracedStatement(note=note) for note in answer.notes),
            ),
            "found": answer.found,
            "missing": answer.missing,
            "models": {
                **trace.models,
                "composer": answer.composer,
                **served("composer", answer.use, answer.composer),
            },
            "tokens": {**trace.tokens, **spent("compose", answer.use)},
            "times_ms": {**trace.times_ms, **times_ms},
        }
    )


def _statement(said: Statement, quotes: Mapping[int, str]) -> TracedStatement:
    quoting = any(n in quotes and quotes[n] in said.text for n in said.citations)
    return TracedStatement(
        text="" if quoting else said.text, citations=said.citations, rejected=said.rejected
    )


# ---------------------------------------------------------------- reading


def visible(trace: Trace, principal: Principal) -> bool:
    """Whether a reader's groups cover those that the trace was made with."""
    if principal.admin:
        return True
    return not trace.admin and set(trace.groups) <= principal.groups


def check_visible(trace: Trace | None, trace_id: str, principal: Principal) -> Trace:
    """Raises InputError where there is no such trace, or none for this reader: the two look
    the same, so that ids tell nothing."""
    if trace is None or not visible(trace, principal):
        raise InputError(
            f"no trace {trace_id!r} that you may read.",
            hint="`resin-es ask` prints the id of its trace.",
        )
    return trace


def require_principal(principal: Principal | None) -> Principal:
    """Raises AccessError where no principal was named."""
    if principal is None:
        raise AccessError("no principal is named.", hint="Set RESIN_GROUPS, or pass --group.")
    return principal
