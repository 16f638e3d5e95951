"""From pools of candidates to the evidence buffer: rank, fetch, fence, select."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from resin_es.model import Candidate, DocumentHit, Dropped, EvidenceBuffer
from resin_es.query.bridge import FOLLOW_UP
from resin_es.query.fence import Fenced, fence
from resin_es.query.found import Found
from resin_es.query.lots import HopHelpings
from resin_es.query.ranking import helpings, ordered
from resin_es.query.searching import ORIGINAL, Searching
from resin_es.query.select import RANK, STALE, select


class Chosen(NamedTuple):
    """The buffer; the document key of each passage in it or dropped from it; the documents
    found by their own text, as far as they were looked at and may be read."""

    buffer: EvidenceBuffer
    keys: Mapping[str, str]
    documents: tuple[DocumentHit, ...]


def choose(run: Searching) -> Chosen:
    """Fill the buffer from what ``run`` found, and settle which candidates each hop keeps.

    Registry entries come first, for the documents that may count: they tell a document's
    current passages. Then the passages come together with their entries in one realtime
    fetch, so that what is judged and what is read are of one moment.
    """
    settings = run.settings
    started = time.perf_counter()
    reach = min(2 * settings.k + 5, settings.budget // 5 + 10)
    serving = sorted(run.found, key=lambda name: name != ORIGINAL)
    orders = {}
    for name in serving:
        held = run.document_chances(name)
        orders[name] = [(key, held[key]) for key in ordered(held)[:reach]]
    run.known.learn(key for order in orders.values() for key, _ in order)
    lines = {
        name: helpings(
            run.found[name].pool,
            orders[name],
            run.known.passages(),
            k=settings.k,
            whole=not run.units_alone,
        )
        for name in serving
    }
    stale = _stale(run)
    served = [HopHelpings(name, lines[name], owed=name != FOLLOW_UP) for name in serving]
    fenced = _fetch(run, served)
    run.took("fetch", started)
    started = time.perf_counter()
    chosen = _fill(run, served, fenced, stale | fenced.stale)
    run.took("select", started)
    return chosen


def _fetch(run: Searching, served: Sequence[HopHelpings]) -> Fenced:
    wanted = {p: h.document_key for hop in served for h in hop.helpings for p in h.passages}
    if not wanted:
        return Fenced({}, frozenset(), frozenset())
    fetched = run.known.fetch(list(wanted), list(dict.fromkeys(wanted.values())))
    return fence(fetched, wanted.items(), run.principal)


def _fill(
    run: Searching,
    served: Sequence[HopHelpings],
    fenced: Fenced,
    stale: frozenset[str],
) -> Chosen:
    buffer = select(
        served,
        fenced.sources,
        budget=run.settings.budget,
        near_duplicate=run.settings.near_duplicate,
    )
    for hop in served:
        keep = {p for h in hop.helpings for p in h.kept if p in fenced.sources}
        item = run.found[hop.hop]
        item.kept = tuple(c for c in item.pool if c.passage_id in keep)
    taken = {p.passage_id for p in buffer.passages} | {d.passage_id for d in buffer.dropped}
    passed = [
        (STALE if c.passage_id in stale else RANK, name, c.passage_id, c.document_key, c.score)
        for name, item in run.found.items()
        for c in item.pool
    ]
    dropped = _dropped(run, passed, taken)
    keys = {passage_id: source.entry.key for passage_id, source in fenced.sources.items()}
    keys.update({passage_id: key for _, _, passage_id, key, _ in passed})
    return Chosen(
        buffer.model_copy(update={"dropped": (*buffer.dropped, *dropped)}),
        keys,
        tuple(hit for hit in run.documents if run.known.entry(hit.document_key) is not None),
    )


def _stale(run: Searching) -> frozenset[str]:
    """Passages that a hop hit and the registry no longer lists, of readable documents."""

    def gone(candidate: Candidate) -> bool:
        listed = run.known.entry(candidate.document_key) is not None
        return listed and not run.known.current(candidate)

    items: list[Found] = list(run.found.values())
    return frozenset(c.passage_id for item in items for c in item.pool if gone(c))


def _dropped(
    run: Searching,
    passed: Sequence[tuple[str, str, str, str, float]],
    taken: set[str],
) -> list[Dropped]:
    """Each passage once, with all hops that had it; none of a document that may not be read."""
    found: dict[str, Dropped] = {}
    for reason, hop, passage_id, key, score in passed:
        entry = run.known.entry(key)
        if entry is None or passage_id in taken:
            continue
        held = found.get(passage_id)
        if held is not None:
            hops = held.hops if hop in held.hops else (*held.hops, hop)
            found[passage_id] = held.model_copy(
                update={"hops": hops, "score": max(score, held.score)}
            )
            continue
        found[passage_id] = Dropped(
            passage_id=passage_id,
            document_id=entry.external_id,
            reason=reason,
            hops=(hop,),
            score=score,
        )
    return list(found.values())
