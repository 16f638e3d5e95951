"""One hop as searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from resin_es.model import Hop, HopResult
from resin_es.model.base import content_id
from resin_es.query.bridge import Bridge
from resin_es.query.hits import Address
from resin_es.query.links import linked_chances
from resin_es.query.ranking import Hits, chances, document_scores, sentence_hits

EMBEDDED = 4_000
"""Longest text, in characters, that a vector is made of; models read less than that."""


PLANNED = 0.25
"""What the chances of a dependent hop count beside the question's own: its words were completed
with every name that came up, so its best document is less surely the right one."""


class Hit(NamedTuple):
    """A passage as a hop hit it, with the score of its best address."""

    document_key: str
    score: float


class Found:
    """One hop as searched: the hop (completed, if bridged), its body, its whole pool, and the
    candidates of the passages that it kept. ``lexical`` holds the own scores of documents,
    where they count; ``across``: whether some documents may be in another language than the
    question. What follows from these is worked out once, for buffers of any budget.
    """

    def __init__(
        self,
        hop: Hop,
        body: dict[str, Any],
        bridge: Bridge | None,
        pool: tuple[Address, ...],
        lexical: Mapping[str, float],
        took_ms: int = 0,
        *,
        across: bool = False,
    ) -> None:
        self.hop, self.body, self.bridge = hop, body, bridge
        self.reference = by_reference(body)
        self.pool, self.lexical, self.took_ms = pool, lexical, took_ms
        self.across = across
        self.kept: tuple[Address, ...] = ()

    @cached_property
    def scores(self) -> dict[str, float]:
        """The fused score of every document."""
        return document_scores(self.pool, self.lexical, across=self.across)

    @cached_property
    def chances(self) -> dict[str, float]:
        """Chance of each document that it holds what the hop asks for. A follow-up's sum to
        less than 1: there may be nothing to go on to."""
        if self.bridge is None:
            return chances(self.scores)
        if self.bridge.best is not None:
            return linked_chances(self.pool, self.bridge.names, self.bridge.best)
        return {key: PLANNED * chance for key, chance in chances(self.scores).items()}

    @cached_property
    def hits(self) -> Hits:
        """The score of every sentence that was hit."""
        return sentence_hits(self.pool)

    @cached_property
    def passages(self) -> dict[str, Hit]:
        """Every passage that was hit, by id, in the order of the pool."""
        found: dict[str, Hit] = {}
        for candidate in self.pool:
            found.setdefault(candidate.passage_id, Hit(candidate.document_key, candidate.score))
        return found

    def result(self) -> HopResult:
        """What the hop found, as it is handed out."""
        return HopResult(
            hop=self.hop,
            bridged_with=self.bridge.entities if self.bridge else (),
            body=self.reference,
            candidates=tuple(address.candidate() for address in self.kept),
            took_ms=self.took_ms,
        )


def embedded_text(hop: Hop) -> str:
    """What a hop's vector is made of."""
    return hop.retrieval_text[:EMBEDDED]


def vector_reference(vector: Sequence[float]) -> str:
    """Name of a vector in a trace: a hash of its values."""
    return "vector:" + content_id("vector", *(f"{value:.6g}" for value in vector))


def by_reference(body: Mapping[str, Any]) -> dict[str, Any]:
    """A hop's body with its vectors replaced by their names."""

    def named(vector: Any) -> str:
        return vector if isinstance(vector, str) else vector_reference(vector)

    return with_vectors(body, named)


def with_vectors(body: Mapping[str, Any], other: Callable[[Any], Any]) -> dict[str, Any]:
    """A hop's body with ``other`` of each query vector in its place; there is a clause for each
    encoder, and a clause alone stands without a list."""
    knn = body["knn"]
    clauses = [knn] if isinstance(knn, Mapping) else knn
    changed = [{**one, "query_vector": other(one["query_vector"])} for one in clauses]
    return {**body, "knn": changed[0] if isinstance(knn, Mapping) else changed}
