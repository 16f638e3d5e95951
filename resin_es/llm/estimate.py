"""What reading documents will take, before anything is sent: calls, tokens, dollars."""

from __future__ import annotations

from collections.abc import Iterable

from resin_es.extract.read import Previous
from resin_es.llm.pricing import Prices
from resin_es.model import Document
from resin_es.model.base import Frozen
from resin_es.ports.language import OutputCache, Stage, Usage


class StageEstimate(Frozen):
    """One stage. ``calls`` are those that go out, ``cached`` those answered from the output
    cache. ``dollars`` and ``batch_dollars`` are None where the model has no known price."""

    stage: Stage
    model: str
    calls: int = 0
    cached: int = 0
    usage: Usage = Usage()
    dollars: float | None = None
    batch_dollars: float | None = None


class Estimate(Frozen):
    """``to_read`` of ``documents`` are read, ``passages`` expected of them."""

    documents: int = 0
    to_read: int = 0
    characters: int = 0
    passages: int = 0
    stages: tuple[StageEstimate, ...] = ()

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models without a known price."""
        return tuple(dict.fromkeys(one.model for one in self.stages if one.dollars is None))

    @property
    def dollars(self) -> float | None:
        """None where any model that is asked has no known price."""
        raise NotImplementedError

    @property
    def batch_dollars(self) -> float | None:
        raise NotImplementedError


def estimate(
    documents: Iterable[tuple[Document, Previous | None]],
    *,
    model: str,
    prices: Prices,
    cache: OutputCache | None = None,
    seen: int | None = None,
) -> Estimate:
    """``documents`` are those that need reading (``Indexer.survey``), ``seen`` of how many."""
    raise NotImplementedError
