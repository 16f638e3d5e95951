"""Requests and tokens per minute, by the ``limits`` library (extra ``anthropic``).

The sliding window counter of that library: two counters a limit, whatever is spent, in this
process or in Redis. At no time has the last minute more than the limit, by the library's
weighting of the minute before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from resin_es.adapters.prices import told
from resin_es.errors import ModelUnavailable, SettingsError

if TYPE_CHECKING:
    from limits import RateLimitItem

IN_PROCESS = "memory://"
INSTALL = "Install it with: pip install 'resin-es[anthropic]'"
SHORTEST, LONGEST = 0.02, 5.0
"""Seconds of one sleep: long enough not to spin, short enough to notice what others gave back."""
_MINUTE = 60.0


class LimitsRateLimiter:
    """A ``RateLimiter``. None is no limit.

    ``storage`` is an address as ``limits`` takes it: ``memory://`` for one process,
    ``redis://host:port/0`` for several, which share what goes by the same ``name``. ``clock``
    and ``sleep`` are for tests.

    Raises ModelUnavailable where ``limits`` (or what its storage needs) is not installed and a
    limit is set, SettingsError for an address that it does not know.
    """

    def __init__(
        self,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        *,
        storage: str = IN_PROCESS,
        name: str = "resin-llm",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._limits: list[_Limit] = []
        self._turn = threading.Lock()
        if requests_per_minute is None and tokens_per_minute is None:
            return
        take, per_minute = _library(storage)
        if requests_per_minute is not None:
            requests = _Limit(take, per_minute(requests_per_minute), name, "requests")
            self._limits.append(requests)
        if tokens_per_minute is not None:
            self._limits.append(_Limit(take, per_minute(tokens_per_minute), name, "tokens"))

    def wait(self, tokens: int) -> float:
        """Wait until a call of about ``tokens`` may go out; returns the seconds waited.

        Callers are served one after the other, so a large call is not overtaken for ever. A call
        of more than a minute's tokens goes out alone, once a whole minute's are free.
        """
        if not self._limits:
            return 0.0
        started = self._clock()
        with self._turn:
            for limit in self._limits:
                cost = min(max(tokens, 1), limit.most) if limit.kind == "tokens" else 1
                while not limit.take(cost):
                    # Of a limit that is used up, this share of a minute brings `cost` back.
                    share = _MINUTE * cost / limit.most
                    self._sleep(min(max(share / 4, SHORTEST), LONGEST))
        return self._clock() - started


class _Limit:
    """One limit: so many a minute, of requests or of tokens."""

    def __init__(
        self, take: Callable[..., bool], item: RateLimitItem, name: str, kind: str
    ) -> None:
        self._take, self._item, self._name, self.kind = take, item, name, kind
        self.most = item.amount

    def take(self, cost: int) -> bool:
        return self._take(self._item, self._name, self.kind, cost=cost)


def _library(storage: str) -> tuple[Callable[..., bool], Callable[[int], RateLimitItem]]:
    try:
        from limits import RateLimitItemPerMinute
        from limits.errors import ConfigurationError
        from limits.storage import storage_from_string
        from limits.strategies import SlidingWindowCounterRateLimiter
    except ImportError as error:
        raise ModelUnavailable(
            "A limit of calls or tokens per minute is set, and the package limits is missing.",
            hint=INSTALL,
        ) from error
    try:
        kept = storage_from_string(storage, wrap_exceptions=True)
    except ConfigurationError as error:
        # its message repeats the address, and with it a password
        raise SettingsError(
            f"Rate limits cannot be kept in {storage.partition('://')[0]}://: limits does not know "
            "it, or a package that it needs is missing.",
            hint="memory:// keeps them in this process, redis://HOST:PORT/0 (package redis) for "
            "several.",
        ) from error
    return _translated(SlidingWindowCounterRateLimiter(kept).hit), RateLimitItemPerMinute


def _translated(hit: Callable[..., bool]) -> Callable[..., bool]:
    from limits.errors import StorageError

    def take(*names: object, cost: int) -> bool:
        try:
            return hit(*names, cost=cost)
        except StorageError as error:
            raise ModelUnavailable(
                f"The place of the rate limits cannot be reached: {told(error.storage_error)}.",
                hint="No call goes out without its limits. Check that address.",
            ) from error

    return take
