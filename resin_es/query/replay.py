"""The same searches again: the bodies of a trace, and how much of its candidates come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resin_es.errors import StoreError
from resin_es.model import Hop, Trace
from resin_es.model.base import Frozen
from resin_es.model.trace import TracedHop
from resin_es.ports import Embedder, SearchResponse, UnitStore
from resin_es.query import hits
from resin_es.query.background import elsewhere
from resin_es.query.bridge import FOLLOW_UP, by_id, completed, entities_of
from resin_es.query.found import embedded_text, vector_reference, with_vectors
from resin_es.query.hits import Address
from resin_es.query.links import named_by
from resin_es.query.searching import Vectors, vectors_of
from resin_es.query.settings import QuerySettings
from resin_es.query.trace import hashed
from resin_es.query.words import capped


class HopReplay(Frozen):
    """How a hop's candidates compare with the traced ones. ``overlap`` is the share of the
    traced ``k`` that came back; after merges an HNSW graph may find slightly others."""

    hop: str
    k: int
    overlap: float
    same_order: bool


def replay_bodies(trace: Trace, vectors: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """The traced bodies of hops that were not bridged, with their vectors put back;
    ``vectors`` maps a vector's reference to its values. Raises StoreError where one is
    missing: another model, or another version of it, made the traced one."""
    bodies = []
    for hop in trace.hops:
        if hop.bridged_from:
            continue
        if any(name not in vectors for name in _named(hop.body)):
            raise StoreError(
                f"hop {hop.hop.id!r} cannot be replayed: its vector is not the one in the trace.",
                hint="Another embedding model answers now.",
            )
        bodies.append(with_vectors(hop.body, lambda name: list(vectors[name])))
    return bodies


def _alone(trace: Trace) -> Trace:
    """The trace without clauses over second vectors."""
    hops = []
    for hop in trace.hops:
        knn = hop.body["knn"]
        body = {**hop.body, "knn": knn if isinstance(knn, Mapping) else knn[0]}
        hops.append(hop.model_copy(update={"body": body}))
    return trace.model_copy(update={"hops": tuple(hops)})


def _named(body: Mapping[str, Any]) -> list[str]:
    """The references to its vectors."""
    names: list[str] = []
    with_vectors(body, names.append)
    return names


def replay(
    trace: Trace, store: UnitStore, embedder: Embedder, second: Embedder | None = None
) -> list[HopReplay]:
    """Send the traced searches again and compare, hop by hop. Bridged hops are completed
    again from the addresses that the trace names, as their predecessors find them now.
    ``second`` is the encoder of what is in another language; where there is none any more, a
    traced search over second vectors has nothing left to find, and is sent without them."""
    trace = trace if second else _alone(trace)
    settings = QuerySettings(
        **{k: v for k, v in trace.settings.items() if k in QuerySettings.model_fields}
    )
    plain = [hop for hop in trace.hops if not hop.bridged_from]
    vectors = _vectors([_searched(trace, hop.hop) for hop in plain], embedder, second)
    pools: dict[str, tuple[Address, ...]] = {}
    if plain:
        bodies = replay_bodies(trace, vectors)
        responses, _ = store.search(bodies, None)
        for hop, body, response in zip(plain, bodies, responses, strict=True):
            pools[hop.hop.id] = hits.ranked(response, settings, elsewhere(body, second))
    later = [hop for hop in trace.hops if hop.bridged_from]
    if later:
        again = [_completed(hop, trace.question, pools, settings) for hop in later]
        made = vectors_of([embedded_text(hop) for hop, _ in again], embedder, second)
        bodies = [
            _with_words(traced.body, (capped(hop.retrieval_text, settings.max_terms), *named), row)
            for traced, (hop, named), row in zip(later, again, made, strict=True)
        ]
        answered: Sequence[SearchResponse]
        answered, _ = store.search(bodies, None)
        for hop, body, response in zip(later, bodies, answered, strict=True):
            pools[hop.hop.id] = hits.ranked(response, settings, elsewhere(body, second))
    return [_compared(hop.hop.id, hop.candidates, pools[hop.hop.id]) for hop in trace.hops]


def _searched(trace: Trace, hop: Hop) -> Hop:
    """The hop as it was searched: a dependent one that nothing completed took the question."""
    if hop.depends_on and trace.settings.get("bridging", True):
        return hop.model_copy(update={"target_terms": (*hop.target_terms, trace.question)})
    return hop


def _vectors(
    hops: Sequence[Hop], embedder: Embedder, second: Embedder | None
) -> dict[str, list[float]]:
    if not hops:
        return {}
    made = vectors_of([embedded_text(h) for h in hops], embedder, second)
    rows = [row for pair in made for row in pair if row is not None]
    return {vector_reference(values): values for values in rows}


def _completed(
    traced: TracedHop,
    question: str,
    pools: Mapping[str, Sequence[Address]],
    settings: QuerySettings,
) -> tuple[Hop, tuple[str, ...]]:
    """A bridged hop as it was searched, and the names that a follow-up went by: read again in
    the addresses that the trace names, in its order."""
    found = by_id((c for pool in pools.values() for c in pool), traced.bridged_from)
    told = [found[address] for address in traced.bridged_from if address in found]
    if traced.hop.id != FOLLOW_UP:
        chosen = entities_of(traced.hop, question, told, settings.bridge_entities)
        return completed(traced.hop, tuple(chosen)), ()
    documents = list(dict.fromkeys(c.document_key for c in told))
    pool = pools.get(traced.hop.depends_on[0], ())
    named = named_by(question, documents, told, pool, settings.bridge_names)
    return traced.hop, tuple(name.text for name in named)


def _with_words(body: Mapping[str, Any], words: Sequence[str], vectors: Vectors) -> dict[str, Any]:
    """A traced body with its words and its vectors put back; a word that nothing says any more
    stays a hash, and finds nothing."""
    known = {hashed(text): text for text in words}

    def restored(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                k: known.get(v, v) if k == "query" and isinstance(v, str) else restored(v)
                for k, v in value.items()
            }
        return [restored(item) for item in value] if isinstance(value, list) else value

    own, second = vectors
    rows = iter((own, second if second is not None else own))
    return with_vectors(restored(body), lambda _: next(rows))


def _compared(hop: str, traced: Sequence[Any], now: Sequence[Address]) -> HopReplay:
    before = [c.address_id for c in traced]
    if not before:
        return HopReplay(hop=hop, k=0, overlap=1.0, same_order=True)
    wanted = set(before)
    after = [c.address_id for c in now if c.address_id in wanted]
    return HopReplay(
        hop=hop, k=len(before), overlap=len(after) / len(before), same_order=after == before
    )
