"""Bridged hops: completed with the entities that their predecessors' units name. Pure.

All candidates count and none is committed to: the entities join the search of a hop that the
plan made, they replace nothing. The follow-up, which no plan needs to foresee, searches the
whole question again among the addresses that the names lead to. No model is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from resin_es.model import Hop
from resin_es.query.hits import Address
from resin_es.query.links import Best, Name, named_entities
from resin_es.query.plan_rules import FURTHER
from resin_es.query.words import fold, stem, words

FOLLOW_UP = "f"
"""Id of the extra hop that follows the names of the question's best documents."""

TOLD, FOUND = 160, 2
"""Characters of a statement, and how many statements, that complete a hop."""


class Bridge(NamedTuple):
    """A completed hop, the entities that complete it, and the addresses they come from. A
    follow-up has its ``names``, and the ``best`` document of the search that named them."""

    hop: Hop
    entities: tuple[str, ...]
    addresses: tuple[str, ...]
    names: tuple[Name, ...] = ()
    best: Best | None = None


def waves(hops: Sequence[Hop], bridging: bool) -> tuple[list[Hop], list[Hop]]:
    """The hops of the first search, and those of the second."""
    if not bridging:
        return list(hops), []
    return [h for h in hops if not h.depends_on], [h for h in hops if h.depends_on]


def ancestors(hop: Hop, hops: Sequence[Hop]) -> list[str]:
    """Ids of the hops without dependencies that ``hop`` rests on, through others if need be:
    what was not searched in the first wave cannot complete anything."""
    by_id = {item.id: item for item in hops}
    found: list[str] = []
    queue = list(hop.depends_on)
    while queue:
        current = by_id[queue.pop(0)]
        if current.depends_on:
            queue.extend(current.depends_on)
        elif current.id not in found:
            found.append(current.id)
    return found


def bridged(hop: Hop, question: str, found: Iterable[Address], limit: int) -> Bridge:
    """``hop`` completed with up to ``limit`` entities of ``found`` (best first).

    Where none is found the whole question joins instead: a hop such as ``who runs the
    company`` means nothing alone.
    """
    chosen = entities_of(hop, question, found, limit)
    if not chosen:
        return Bridge(_with_question(hop, question), (), ())
    sources = tuple(dict.fromkeys(chosen.values()))
    return Bridge(completed(hop, tuple(chosen)), tuple(chosen), sources)


def entities_of(hop: Hop, question: str, found: Iterable[Address], limit: int) -> dict[str, str]:
    """The entities that complete a hop, each with the address it comes from. Those that carry
    the hop's own bridge word (``Tram 3`` for ``trams``) come first. A hop that looks one step
    further back takes what its predecessor's best addresses say instead."""
    if hop.need == FURTHER:
        return {c.statement[:TOLD]: c.address_id for c in list(found)[:FOUND] if c.statement}
    known = fold(f"{question} {hop.retrieval_text}")
    heads = {stem(word) for term in hop.bridge_terms for word in words(term)}
    entities: dict[str, tuple[str, str, bool]] = {}
    for candidate in found:
        for entity in named_entities(candidate):
            if fold(entity) not in known:
                fits = not heads.isdisjoint(stem(word) for word in words(entity))
                entities.setdefault(fold(entity), (entity, candidate.address_id, not fits))
    order = sorted(entities.values(), key=lambda item: item[2])
    return {entity: address for entity, address, _ in order[:limit]}


def completed(hop: Hop, entities: Sequence[str]) -> Hop:
    """``hop`` with entities among its bridge terms."""
    return hop.model_copy(update={"bridge_terms": (*hop.bridge_terms, *entities)})


def _with_question(hop: Hop, question: str) -> Hop:
    return hop.model_copy(update={"target_terms": (*hop.target_terms, question)})


def follow_up(question: str, after: str) -> Hop:
    """The whole question again, after hop ``after`` that asked it first."""
    return Hop(
        id=FOLLOW_UP,
        subquestion=question,
        need="what the best documents lead to",
        depends_on=(after,),
    )


def followed(hop: Hop, found: Sequence[Name], best: Best) -> Bridge:
    """The follow-up with the names that it goes by."""
    return Bridge(
        hop,
        tuple(name.text for name in found),
        tuple(dict.fromkeys(name.address for name in found)),
        tuple(found),
        best,
    )


def by_id(candidates: Iterable[Address], addresses: Sequence[str]) -> Mapping[str, Address]:
    """Those candidates that ``addresses`` name."""
    wanted = set(addresses)
    return {c.address_id: c for c in candidates if c.address_id in wanted}
