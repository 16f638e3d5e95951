"""A model under a cap and a rate limit, with every call entered in a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from resin_es.model.base import Frozen
from resin_es.ports.language import (
    LanguageModel,
    Ledger,
    ModelCall,
    ModelReply,
    RateLimiter,
    Stage,
    Usage,
)


class StageSpending(Frozen):
    """What one stage took. ``routes``: how structures were got, by ``ModelReply.route``;
    ``fallbacks``: requests beyond one a call."""

    calls: int = 0
    usage: Usage = Usage()
    dollars: float = 0.0
    fallbacks: int = 0
    failed: int = 0
    truncated: int = 0
    refused: int = 0
    waited: float = 0.0
    routes: Mapping[str, int] = {}


class MeteredModel:
    """A LanguageModel around another. Thread-safe."""

    def __init__(
        self,
        inner: LanguageModel,
        limiter: RateLimiter,
        ledger: Ledger,
        *,
        cap: float | None = None,
    ) -> None:
        self._inner, self._limiter, self._ledger, self._cap = inner, limiter, ledger, cap

    @property
    def spending(self) -> Mapping[Stage, StageSpending]:
        """What was spent so far, by stage; stages never asked are left out."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises BudgetSpent once the cap is reached."""
        raise NotImplementedError

    def book(
        self, call: ModelCall, reply: ModelReply, *, key: str = "", batch: bool = False
    ) -> None:
        """Enter what a call cost that went out by another way (a batch). ``key``: unique to the
        outcome, so that entering it again counts once."""
        raise NotImplementedError

    def call(self, call: ModelCall) -> ModelReply:
        raise NotImplementedError

    def stream(self, call: ModelCall) -> Iterator[str | ModelReply]:
        raise NotImplementedError
