"""What background work tells of itself. Every count is of documents unless it says otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from resin_es.index.report import IndexReport


class _Told:
    """A report as the ``--json`` output shows it."""

    def to_dict(self) -> dict[str, Any]:
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, IndexReport):
        return value.to_dict()
    if isinstance(value, Mapping):
        return dict(value)
    return value


@dataclass
class SyncReport(_Told):
    """What a sync of a source found and did. ``skipped`` says why it did nothing (paused, at
    work elsewhere). ``pending`` were marked as to be read, ``waiting`` were marked before and
    still wait; ``queued`` documents were handed to the queue in ``tasks`` messages, ``held``
    stay in the registry for ``reconcile`` because the queue is full or away (``queue_error``).
    ``busy`` changed hands meanwhile and are looked at again by the next sync."""

    source: str
    full: bool = False
    skipped: str = ""
    listed: int = 0
    looked_at: int = 0
    new: int = 0
    changed: int = 0
    rights_changed: int = 0
    deleted: int = 0
    unchanged: int = 0
    empty: int = 0
    waiting: int = 0
    busy: int = 0
    pending: int = 0
    queued: int = 0
    held: int = 0
    tasks: int = 0
    seconds: float = 0.0
    queue_error: str = ""
    unreadable: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class WorkReport(_Told):
    """What a task did with its documents. ``done`` were committed, ``deleted`` are gone from
    the team's index, ``retried`` failed and wait for their next attempt, ``dead`` failed for
    the last time, ``busy`` are another worker's, ``skipped`` needed nothing (source paused or
    removed, nothing left to do). ``problems`` maps external ids to what went wrong; ``index``
    is what reading and writing took."""

    source: str
    done: int = 0
    deleted: int = 0
    retried: int = 0
    dead: int = 0
    busy: int = 0
    skipped: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    index: IndexReport = field(default_factory=IndexReport)


@dataclass
class RightsReport(_Told):
    """What ``revoke`` did: ``revoked`` documents nobody but an admin reads from now on,
    ``missing`` ids that the registry doesn't have."""

    source: str
    revoked: int = 0
    missing: list[str] = field(default_factory=list)


@dataclass
class ReconcileReport(_Told):
    """What ``reconcile`` found unfinished. ``due`` waited past their ``not_before``;
    ``crashed`` had an owner that died or fell silent, ``dead`` of them for the last time;
    ``settled`` had only their clean-up left; ``suspects`` are records without a place in the
    registry seen for the first time, ``swept`` those deleted; ``by_source`` counts documents
    queued."""

    due: int = 0
    crashed: int = 0
    dead: int = 0
    settled: int = 0
    suspects: int = 0
    swept: int = 0
    queued: int = 0
    tasks: int = 0
    held: int = 0
    queue_error: str = ""
    by_source: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
