"""Where expected evidence was lost: not indexed, not retrieved, not selected, not used [1]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from resin_es.errors import InputError
from resin_es.index.filters import Filters, address_filter, document_filter
from resin_es.index.records import SENTENCE_KIND
from resin_es.model import Principal, RegistryEntry, Trace
from resin_es.model.base import Frozen
from resin_es.ports import UnitStore
from resin_es.query import hits
from resin_es.query.fence import fence, readable
from resin_es.query.hits import Address
from resin_es.query.hop import ADDRESS_SOURCE
from resin_es.query.settings import QuerySettings
from resin_es.query.words import capped, words

Stage = Literal["not_indexed", "not_retrieved", "not_selected", "not_used", "used"]
STAGES: tuple[Stage, ...] = ("not_indexed", "not_retrieved", "not_selected", "not_used", "used")

_SIZE = 200


class Diagnosis(Frozen):
    """``stage`` is the furthest that the expected evidence came; ``details`` says for every
    stage up to there what was found. ``documents`` are the ids that hold the evidence."""

    trace_id: str
    expect: str
    stage: Stage
    details: Mapping[str, str]
    documents: tuple[str, ...] = ()


def diagnose(trace: Trace, expect: str, store: UnitStore, principal: Principal) -> Diagnosis:
    """``expect`` is a document's id, or words of the evidence. Raises InputError if empty."""
    if not words(expect):
        raise InputError("--expect holds no word.", hint="Give a document id, or a few words.")
    by_document, by_words, entries = _look_up(expect, store, principal)
    found = by_document or by_words
    current = _current(found, store, principal)
    if not current:
        return _verdict(trace, expect, "not_indexed", {"indexed": _absent(entries, found)}, ())
    details = {"indexed": _indexed(current)}
    documents = tuple(dict.fromkeys(c.document_id for c in current))
    stage, more = follow(trace, current, whole=bool(by_document))
    return _verdict(trace, expect, stage, {**details, **more}, documents)


def _verdict(
    trace: Trace, expect: str, stage: Stage, details: Mapping[str, str], documents: tuple[str, ...]
) -> Diagnosis:
    return Diagnosis(
        trace_id=trace.id, expect=expect, stage=stage, details=details, documents=documents
    )


def lookup_bodies(expect: str, principal: Principal) -> list[dict[str, Any]]:
    """Two lexical searches: addresses of the document with that id, and addresses whose
    statement holds all of the words."""
    named = address_filter(principal, Filters(document_ids=(expect[:8191],)))
    anywhere = address_filter(principal, Filters())
    told = {"query": capped(expect, 64), "operator": "and"}
    shared = {"size": _SIZE, "_source": list(ADDRESS_SOURCE), "track_total_hits": False}
    return [
        {"query": {"bool": {"filter": named}}, **shared},
        {"query": {"bool": {"filter": anywhere, "must": [{"match": {"statement": told}}]}},
         **shared},
    ]  # fmt: skip


def _look_up(
    expect: str, store: UnitStore, principal: Principal
) -> tuple[list[Address], list[Address], list[RegistryEntry]]:
    registry = {
        "query": {
            "bool": {"filter": document_filter(principal, Filters(document_ids=(expect[:8191],)))}
        },
        "size": 10,
        "_source": False,
        "track_total_hits": False,
    }
    responses, documents = store.search(lookup_bodies(expect, principal), registry)
    named, told = (list(hits.ranked(response, QuerySettings())) for response in responses)
    keys = [hit.document_key for hit in hits.documents(documents)]
    entries = store.fetch([], keys).entries if keys else {}
    visible = [e for e in entries.values() if principal.may_read(e.access)]
    return named, told, visible


def _current(found: Sequence[Address], store: UnitStore, principal: Principal) -> list[Address]:
    wanted = {c.passage_id: c.document_key for c in found}
    if not wanted:
        return []
    fetched = store.fetch(list(wanted), list(dict.fromkeys(wanted.values())))
    sources = fence(fetched, wanted.items(), principal).sources
    return [c for c in found if c.passage_id in sources]


def _absent(entries: Sequence[RegistryEntry], found: Sequence[Address]) -> str:
    if found:
        return "Only an older version of the document holds it."
    for entry in entries:
        error = f": {entry.error.stage}: {entry.error.message}" if entry.error else ""
        held = "" if readable(entry, Principal(admin=True)) else ", and holds no evidence"
        return f"The document is {entry.status.value}{held}{error}."
    return "No unit or sentence that you may read holds it."


def _indexed(found: Sequence[Address]) -> str:
    units = sum(c.kind != SENTENCE_KIND for c in found)
    sentences = len(found) - units
    if not units:
        return f"By {sentences} sentence(s) alone: no unit points at it."
    return f"By {units} unit(s) and {sentences} sentence(s)."


def follow(
    trace: Trace, expected: Sequence[Address], *, whole: bool
) -> tuple[Stage, dict[str, str]]:
    """How far the expected addresses came in the trace. Pure. With ``whole``, any sentence of
    their passages will do; else one of their own must have been kept or cited."""
    passages = {c.passage_id for c in expected}
    sentences = {sentence for c in expected for sentence in c.sentence_ids}

    def meant(passage_id: str, sentence_ids: Sequence[str]) -> bool:
        return passage_id in passages and (whole or bool(sentences & set(sentence_ids)))

    details: dict[str, str] = {}
    ranks = [
        f"{hop.hop.id} at rank {rank}"
        for hop in trace.hops
        for rank in [_rank(hop.candidates, passages)]
        if rank
    ]
    kept = [p for p in trace.passages if not p.reason and meant(p.passage_id, p.sentence_ids)]
    dropped = [p for p in trace.passages if p.passage_id in passages and p not in kept]
    beyond = [p for p in dropped if p.reason == "rank"]
    if not ranks and not kept and len(beyond) == len(dropped):
        more = f" {len(beyond)} passage(s) lay beyond the k that a hop keeps." if beyond else ""
        details["retrieved"] = f"No hop kept it among its candidates.{more}"
        return "not_retrieved", details
    details["retrieved"] = "By " + ", ".join(ranks) + "." if ranks else "With its document."
    if not kept:
        reasons = sorted({p.reason or "cut at a sentence" for p in dropped}) or ["budget"]
        details["selected"] = f"Left out of the buffer: {', '.join(reasons)}."
        return "not_selected", details
    details["selected"] = f"In the buffer ({sum(p.tokens for p in kept)} tokens)."
    cited = [c for c in trace.citations if meant(c.passage_id, c.sentence_ids)]
    if not cited:
        composed = trace.found is not None
        details["used"] = (
            "The answer cites something else." if composed else "Nothing was composed."
        )
        return "not_used", details
    numbers = ", ".join(f"[{c.number}]" + (" (void)" if c.void else "") for c in cited)
    details["used"] = f"Cited as {numbers}."
    return "used", details


def _rank(candidates: Sequence[Any], passages: set[str]) -> int:
    for rank, candidate in enumerate(candidates, start=1):
        if candidate.passage_id in passages:
            return rank
    return 0


__all__ = ["Diagnosis", "Stage", "diagnose", "follow", "lookup_bodies"]
