"""Bridged hops: completed with the entities that their predecessors' units name. Pure.

All candidates count and none is committed to: the entities join the hop's search text, they
replace nothing. No model is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from resin_es.model import Candidate, Hop
from resin_es.query.words import fold, names, words


class Bridge(NamedTuple):
    """A completed hop, the entities that complete it, and the addresses they come from."""

    hop: Hop
    entities: tuple[str, ...]
    addresses: tuple[str, ...]


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


def bridged(hop: Hop, question: str, found: Iterable[Candidate], limit: int) -> Bridge:
    """``hop`` completed with up to ``limit`` entities of ``found`` (best first).

    Where none is found the whole question joins instead: a hop such as ``who runs the
    company`` means nothing alone.
    """
    known = fold(f"{question} {hop.retrieval_text}")
    entities: dict[str, tuple[str, str]] = {}
    for candidate in found:
        for entity in named_entities(candidate):
            key = fold(entity)
            if len(entities) < limit and key not in known and key not in entities:
                entities[key] = (entity, candidate.address_id)
    if not entities:
        return Bridge(_with_question(hop, question), (), ())
    terms = tuple(entity for entity, _ in entities.values())
    sources = tuple(dict.fromkeys(address for _, address in entities.values()))
    return Bridge(completed(hop, terms), terms, sources)


def completed(hop: Hop, entities: Sequence[str]) -> Hop:
    """``hop`` with entities among its bridge terms."""
    return hop.model_copy(update={"bridge_terms": (*hop.bridge_terms, *entities)})


def _with_question(hop: Hop, question: str) -> Hop:
    return hop.model_copy(update={"target_terms": (*hop.target_terms, question)})


def named_entities(candidate: Candidate) -> list[str]:
    """Names in a unit's subject and object; in a sentence's text, where no unit was hit."""
    fields = [candidate.subject, candidate.object]
    if not any(fields):
        fields = [candidate.statement]
    found: list[str] = []
    for text in fields:
        if len(words(text)) <= 5 and re.search(r"[^\W\d_a-z]|\d", text):
            found.append(re.sub(r"^(?:the|an?)\s+", "", text.strip(), flags=re.I))
        else:
            found.extend(names(text))
    return [entity for entity in found if 1 < len(entity) <= 60]


def by_id(candidates: Iterable[Candidate], addresses: Sequence[str]) -> Mapping[str, Candidate]:
    """Those candidates that ``addresses`` name."""
    wanted = set(addresses)
    return {c.address_id: c for c in candidates if c.address_id in wanted}
