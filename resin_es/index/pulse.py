"""The heartbeat of documents at work.

A slow owner that lives keeps its lease; one that is blocked in a call stays silent and loses it.
Every beat is a guarded write, so an owner also learns in time that a document was taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock

from resin_es.index.work import Work
from resin_es.model import Guard, ReaderIdentity
from resin_es.ports import (
    PassageInput,
    PassageReading,
    Reader,
    ReadingWindow,
    UnitReading,
    UnitStore,
)

CHUNK = 64
"""Passages in one call of the reader, between two looks at the clock."""


class Pulse:
    """Renews the leases of ``works`` once a third of ``lease`` has passed. Thread-safe."""

    def __init__(
        self,
        store: UnitStore,
        works: Sequence[Work],
        *,
        lease: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._works, self._now = store, list(works), now
        self._pause, self._last = lease / 3, now()
        self._guards: dict[str, Guard | None] = {one.entry.key: one.guard for one in works}
        self._lock = Lock()

    def beat(self) -> None:
        """Renew what is still ours, if it is time. Raises StoreError."""
        with self._lock:
            moment = self._now()
            if moment - self._last < self._pause:
                return
            self._last = moment
            held = [(one, guard) for one in self._works if (guard := self._guards[one.entry.key])]
            renewed = self._store.put_entries(
                [(one.entry.model_copy(update={"heartbeat": moment}), g) for one, g in held]
            )
            for (one, _), guard in zip(held, renewed, strict=True):
                self._guards[one.entry.key] = guard

    def current(self) -> list[Work]:
        """Every document with its newest guard; one that was taken away keeps its last."""
        return [replace(one, guard=self._guards[one.entry.key] or one.guard) for one in self._works]


class PulsingReader:
    """A reader that beats before each call of another one."""

    def __init__(self, inner: Reader, pulse: Pulse) -> None:
        self._inner, self._pulse = inner, pulse

    @property
    def identity(self) -> ReaderIdentity:
        return self._inner.identity

    @property
    def lanes(self) -> int:
        return self._inner.lanes

    def languages(self) -> frozenset[str] | None:
        return self._inner.languages()

    def passages(self, window: ReadingWindow) -> PassageReading:
        self._pulse.beat()
        return self._inner.passages(window)

    def units(self, passages: Sequence[PassageInput]) -> Sequence[UnitReading]:
        readings: list[UnitReading] = []
        for start in range(0, len(passages), CHUNK):
            self._pulse.beat()
            readings.extend(self._inner.units(passages[start : start + CHUNK]))
        return readings
