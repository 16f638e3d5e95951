"""From pools of candidates to the evidence buffer: rank, fetch, fence, select."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from resin_es.model import DocumentHit, Dropped, EvidenceBuffer
from resin_es.query.bridge import FOLLOW_UP
from resin_es.query.fence import Fenced, fence
from resin_es.query.found import Hit
from resin_es.query.lots import HopHelpings
from resin_es.query.ranking import Helping, further, helpings, ordered, room_left
from resin_es.query.searching import ORIGINAL, Searching
from resin_es.query.select import RANK, STALE, select

SHORT = 80
"""Tokens of a short document: how many of a hop's best may be needed to fill a budget."""


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
    started = time.perf_counter()
    served = _served(run)
    stale = _stale(run)
    fenced = _fetch(run, served)
    run.took("fetch", started)
    started = time.perf_counter()
    chosen = _fill(run, served, fenced, stale | fenced.stale)
    run.took("select", started)
    return chosen


def _served(run: Searching) -> list[HopHelpings]:
    """What each hop keeps, and what it has to offer beyond that, as the registry lists it."""
    settings, whole = run.settings, not run.units_alone
    fill_on = settings.fill_on and whole
    reach = max(2 * settings.k + 5, settings.budget // SHORT if fill_on else 0)
    reach = min(reach, settings.budget // 5 + 10)
    serving = sorted(run.found, key=lambda name: name != ORIGINAL)
    orders = {}
    for name in serving:
        held = run.found[name].chances
        orders[name] = [(key, held[key]) for key in ordered(held)[:reach]]
    run.known.learn(key for order in orders.values() for key, _ in order)
    current = run.known.passages()

    def lines(k: int) -> list[list[Helping]]:
        return [
            helpings(run.found[name].hits, orders[name], current, k=k, whole=whole)
            for name in serving
        ]

    kept = lines(settings.k)
    more: Sequence[Sequence[Helping]] = [()] * len(kept)
    room = room_left(kept, current, settings.budget) if fill_on else 0
    if room > 0:
        more = further(kept, lines(settings.k + reach), current, room)
    return [
        HopHelpings(name, own, owed=name != FOLLOW_UP, further=beyond)
        for name, own, beyond in zip(serving, kept, more, strict=True)
    ]


def _fetch(run: Searching, served: Sequence[HopHelpings]) -> Fenced:
    wanted = {p: h.document_key for hop in served for h in hop.offered for p in h.passages}
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
    keys = {passage_id: source.entry.key for passage_id, source in fenced.sources.items()}
    for item in run.found.values():
        keys.update({passage_id: hit.document_key for passage_id, hit in item.passages.items()})
    return Chosen(
        buffer.model_copy(update={"dropped": (*buffer.dropped, *_passed(run, stale, taken))}),
        keys,
        tuple(hit for hit in run.documents if run.known.entry(hit.document_key) is not None),
    )


def _stale(run: Searching) -> frozenset[str]:
    """Passages that a hop hit and the registry no longer lists, of readable documents."""
    listed = {key: {ref.id for ref in refs} for key, refs in run.known.passages().items()}
    return frozenset(
        passage_id
        for item in run.found.values()
        for passage_id, hit in item.passages.items()
        if hit.document_key in listed and passage_id not in listed[hit.document_key]
    )


def _passed(run: Searching, stale: Collection[str], taken: Collection[str]) -> Iterator[Dropped]:
    """What hops hit and had no room for: each passage once, with all hops that had it; none
    of a document that may not be read."""
    passed: dict[str, list[tuple[str, Hit]]] = {}
    for name, item in run.found.items():
        for passage_id, hit in item.passages.items():
            if passage_id not in taken:
                passed.setdefault(passage_id, []).append((name, hit))
    for passage_id, served in passed.items():
        entry = run.known.entry(served[0][1].document_key)
        if entry is not None:
            yield Dropped(
                passage_id=passage_id,
                document_id=entry.external_id,
                reason=STALE if passage_id in stale else RANK,
                hops=tuple(name for name, _ in served),
                score=max(hit.score for _, hit in served),
            )
