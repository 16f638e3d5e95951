"""After composing: citations whose evidence has vanished meanwhile are voided. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from resin_es.model import Answer, Citation, EvidenceBuffer, Principal, RegistryEntry, Statement
from resin_es.query.compose import NOT_HELD
from resin_es.query.fence import current, readable

CHANGED = "The document changed while the answer was composed."
GONE = "The document can no longer be read."
VOIDED = "[A quote was withdrawn: its evidence vanished while the answer was composed.]"


def recheck(
    answer: Answer,
    entries: Mapping[str, RegistryEntry],
    principal: Principal,
    *,
    whole: bool = True,
) -> Answer:
    """The answer as it may still be given. A voided citation keeps its number and loses its
    words; a statement that stands on a voided citation goes, and the text is put together again
    from what is left. Unless the buffer still stands ``whole``, a statement that cites nothing
    goes too: it may have been made from what vanished."""
    citations = tuple(_judged(item, entries, principal) for item in answer.citations)
    void = {item.number for item in citations if item.void}
    statements = tuple(
        s for s in answer.statements if not _stands_on(s, void) and (whole or s.citations)
    )
    if len(statements) == len(answer.statements) and not void:
        return answer
    text = "\n".join([*(s.text for s in statements), VOIDED])
    found = any(s.citations for s in statements)
    return answer.model_copy(
        update={
            "citations": citations,
            "statements": tuple(_without(s, void) for s in statements),
            "text": text if found else f"{NOT_HELD}\n{VOIDED}",
            "found": found,
        }
    )


def _judged(
    citation: Citation, entries: Mapping[str, RegistryEntry], principal: Principal
) -> Citation:
    entry = entries.get(citation.document_key)
    if entry is None or not readable(entry, principal):
        nameless = {"document_id": "", "title": "", "url": None, "source": ""}
        return citation.model_copy(update={"void": GONE, "quote": "", **nameless})
    if current(entry, citation.passage_id) is None:
        return citation.model_copy(update={"void": CHANGED, "quote": ""})
    return citation


def _stands_on(statement: Statement, void: set[int]) -> bool:
    """Any voided citation: what a statement of several says cannot be told apart."""
    return any(number in void for number in statement.citations)


def _without(statement: Statement, void: set[int]) -> Statement:
    left = tuple(number for number in statement.citations if number not in void)
    return statement.model_copy(update={"citations": left})


def still_standing(
    buffer: EvidenceBuffer, entries: Mapping[str, RegistryEntry], principal: Principal
) -> EvidenceBuffer:
    """The buffer without passages that are no longer current or readable."""
    kept = []
    for passage in buffer.passages:
        entry = entries.get(passage.document_key)
        if entry and readable(entry, principal) and current(entry, passage.passage_id):
            kept.append(passage)
    return buffer.model_copy(
        update={"passages": tuple(kept), "tokens": sum(p.tokens for p in kept)}
    )
