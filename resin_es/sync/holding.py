"""The lease of a source: one sync at a time does the work, and a second one is harmless."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from resin_es.errors import InputError, ResinError, StoreConflict, StoreError
from resin_es.index.lease import silent
from resin_es.model.source import Source, SourceState
from resin_es.ports.sync import StoredSource
from resin_es.sync.desk import Desk
from resin_es.sync.marking import stage_error

TRIES = 10
SYNC_STAGE, WORK_STAGE = "sync", "work"
PAUSED, AT_WORK = "the source is paused", "another sync of it is at work"
CHANGED = "the source was changed meanwhile"


class TakenOver(StoreConflict):
    """Another sync holds the source now, or it was removed."""


class Stopped(StoreConflict):
    """Somebody paused or changed the source while it was synced: what is known of it by now was
    seen otherwise."""


def known_source(desk: Desk, name: str) -> StoredSource:
    """Raises InputError where there is no such source."""
    stored = desk.book.source(name)
    if stored is None:
        raise InputError(f"There is no source {name!r}.", hint="`resin-es source list` names them.")
    return stored


class Hold:
    """A source held by this process. ``refusal`` says why it could not be taken."""

    def __init__(self, desk: Desk, name: str) -> None:
        self._desk, self._name = desk, name
        self._stored = known_source(desk, name)
        self._last = desk.now()
        self.refusal = self._take()

    @property
    def source(self) -> Source:
        return self._stored.source

    def _take(self) -> str:
        for _ in range(TRIES):
            state = self.source.state
            if state.paused:
                return PAUSED
            if state.lease and state.lease != self._desk.owner and not self._silent(state):
                return AT_WORK
            if self._put({"lease": self._desk.owner, "heartbeat": self._last}):
                return ""
            self._stored = known_source(self._desk, self._name)
        return AT_WORK

    def _silent(self, state: SourceState) -> bool:
        lease = timedelta(seconds=self._desk.settings.lease_s)
        return silent(state.lease, state.heartbeat, now=self._desk.now(), lease=lease)

    def beat(self) -> None:
        """Look whether the source is still ours to sync, and renew the lease once a third of it
        has passed: whoever pauses, changes or removes a source waits for one batch, not for a
        listing. Raises TakenOver, Stopped, StoreError."""
        stored = self._desk.book.source(self._name)
        if stored is None or stored.source.state.lease != self._desk.owner:
            raise TakenOver(f"source {self._name!r}: another sync took over, or it was removed.")
        if stored.source.state.paused:
            raise Stopped(PAUSED)
        if stored.source.spec != self.source.spec:
            raise Stopped(CHANGED)
        self._stored = stored
        moment = self._desk.now()
        if moment - self._last < timedelta(seconds=self._desk.settings.lease_s) / 3:
            return
        self._last = moment
        self.write({"heartbeat": moment})

    def write(self, changes: dict[str, Any], *, whatever: bool = False) -> None:
        """Change the state, whatever others change in it meanwhile; with ``whatever``, also where
        they changed what the source is. Raises TakenOver, Stopped."""
        for _ in range(TRIES):
            if self._put(changes):
                return
            stored = self._desk.book.source(self._name)
            if stored is None or stored.source.state.lease != self._desk.owner:
                raise TakenOver(
                    f"source {self._name!r}: another sync took over, or it was removed."
                )
            if stored.source.spec != self.source.spec and not whatever:
                raise Stopped(CHANGED)
            self._stored = stored
        raise StoreConflict(f"source {self._name!r} changed faster than it could be written.")

    def finish(self, **changes: Any) -> None:
        """Let the source go, with what the sync found out: of the source as it was, or not at
        all. Raises TakenOver, Stopped, StoreError."""
        error = self.source.state.error
        kept = error if error is not None and error.stage != SYNC_STAGE else None
        self.write({"error": kept, **changes, "lease": None, "heartbeat": None})

    def let_go(self) -> None:
        """Without having found anything out. Raises TakenOver, StoreError."""
        self.write({"lease": None, "heartbeat": None}, whatever=True)

    def fail(self, error: ResinError) -> None:
        """Let the source go and name the error on it, which is then raised."""
        try:
            told = stage_error(error, SYNC_STAGE)
            self.write({"error": told, "lease": None, "heartbeat": None}, whatever=True)
        except StoreError as worse:  # the lease runs out by itself
            raise error from worse
        raise error

    def _put(self, changes: dict[str, Any]) -> bool:
        state = self.source.state.model_copy(update=changes)
        source = self.source.model_copy(update={"state": state})
        try:
            guard = self._desk.book.put_source(source, self._stored.guard)
        except StoreConflict:
            return False
        self._stored = StoredSource(source=source, guard=guard)
        return True


def change_state(desk: Desk, name: str, change: Any) -> Source | None:
    """Apply ``change`` (a function of the state) under the guard; None where the source is
    gone. Raises StoreConflict after too many lost races."""
    for _ in range(TRIES):
        stored = desk.book.source(name)
        if stored is None:
            return None
        state = change(stored.source.state)
        if state == stored.source.state:
            return stored.source
        source = stored.source.model_copy(update={"state": state})
        try:
            desk.book.put_source(source, stored.guard)
        except StoreConflict:
            continue
        return source
    raise StoreConflict(f"source {name!r} changed faster than it could be written.")
