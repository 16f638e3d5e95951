"""One hop as searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resin_es.model import Candidate, Hop, HopResult
from resin_es.model.base import content_id
from resin_es.query.bridge import Bridge

EMBEDDED = 4_000
"""Longest text, in characters, that a vector is made of; models read less than that."""


class Found:
    """One hop as searched: the hop (completed, if bridged), its body, its whole pool, and the
    candidates of the passages that it kept."""

    def __init__(self, hop: Hop, body: dict[str, Any], bridge: Bridge | None = None) -> None:
        self.hop, self.body, self.bridge = hop, body, bridge
        self.reference = by_reference(body)
        self.pool: tuple[Candidate, ...] = ()
        self.kept: tuple[Candidate, ...] = ()
        self.took_ms = 0

    def result(self) -> HopResult:
        """What the hop found, as it is handed out."""
        return HopResult(
            hop=self.hop,
            bridged_with=self.bridge.entities if self.bridge else (),
            body=self.reference,
            candidates=self.kept,
            took_ms=self.took_ms,
        )


def embedded_text(hop: Hop) -> str:
    """What a hop's vector is made of."""
    return hop.retrieval_text[:EMBEDDED]


def vector_reference(vector: Sequence[float]) -> str:
    """Name of a vector in a trace: a hash of its values."""
    return "vector:" + content_id("vector", *(f"{value:.6g}" for value in vector))


def by_reference(body: Mapping[str, Any]) -> dict[str, Any]:
    """A hop's body with its vector replaced by the vector's name."""
    knn = dict(body["knn"])
    if not isinstance(knn["query_vector"], str):
        knn["query_vector"] = vector_reference(knn["query_vector"])
    return {**body, "knn": knn}
