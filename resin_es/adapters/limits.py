"""Requests and tokens per minute, by the ``limits`` library (extra ``anthropic``)."""

from __future__ import annotations

import time
from collections.abc import Callable


class LimitsRateLimiter:
    """A ``RateLimiter``. None is no limit. ``storage`` is an address that ``limits`` knows
    (``memory://`` for one process, ``redis://…`` for several)."""

    def __init__(
        self,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        *,
        storage: str = "memory://",
        name: str = "llm",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._requests, self._tokens = requests_per_minute, tokens_per_minute

    def wait(self, tokens: int) -> float:
        """Wait until a call of about ``tokens`` may go out; returns the seconds waited."""
        raise NotImplementedError
