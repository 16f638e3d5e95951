"""What is due, on its way to the queue: newest first, all sources in turn, each noted once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import NamedTuple

from resin_es.model import DocumentStatus, RegistryEntry
from resin_es.ports.sync import QueueName, TaskName
from resin_es.sync.desk import Desk
from resin_es.sync.dispatch import QUEUE_OF, Dispatch

TOGETHER = 500


class Due(NamedTuple):
    """A document to queue. ``alone`` where an attempt of it ended badly."""

    task: TaskName
    source: str
    key: str
    alone: bool
    age: float
    """Minus the date of its last change: the newest first."""
    outdated: bool = False
    """It answers with an old version, and goes before those that were never read."""


class Message(NamedTuple):
    """What one task is to do."""

    source: str
    task: TaskName
    keys: list[str]
    alone: bool
    first: bool


def age(updated_at: datetime | None) -> float:
    """Of ``Due``: documents without a date come last."""
    return -updated_at.timestamp() if updated_at else float("inf")


def first_task(entry: RegistryEntry) -> TaskName:
    """Sentence addresses first for a document that does not answer yet."""
    return "read_document" if entry.passages else "embed_and_commit"


def outdated(entry: RegistryEntry) -> bool:
    """Whether it answers, and with a version that is not the one that is wanted."""
    return bool(entry.passages) and entry.committed_version != entry.version


class Backlog:
    """Documents that a sync has marked, in whatever order the listing gave them: kept until all
    are known, and then put the newest first. Of more than the queue has room for only the newest
    are kept; ``reconcile`` finds the rest, and all of it if the sync is broken off."""

    def __init__(self, desk: Desk, dispatch: Dispatch) -> None:
        self._desk, self._dispatch = desk, dispatch
        self._due: dict[TaskName, list[Due]] = {}

    def add(self, one: Due) -> None:
        kept = self._due.setdefault(one.task, [])
        kept.append(one)
        if len(kept) >= 2 * self._limit(one.task) + TOGETHER:
            self._trim(one.task)

    def _limit(self, task: TaskName) -> int:
        return self._dispatch.room(task) * self._desk.settings.chunk

    def _trim(self, task: TaskName) -> None:
        kept, limit = sorted(self._due[task], key=_order), self._limit(task)
        self._dispatch.sent.held += len(kept[limit:])
        self._due[task] = kept[:limit]

    def send(self) -> None:
        """Put them. Raises StoreError."""
        for task in self._due:
            self._trim(task)
        due = [one for kept in self._due.values() for one in kept]
        self._due.clear()
        send(self._desk, self._dispatch, due, again=False)


def send(desk: Desk, dispatch: Dispatch, due: Sequence[Due], *, again: bool) -> list[Message]:
    """Put what is due, as far as the queue has room; returns all messages there would be. What
    somebody else has queued meanwhile, or is at work on, is left out; with ``again`` what was
    queued before goes nevertheless. Raises StoreError."""
    messages = list(in_turn(due, desk.settings.chunk))
    taken = _mark_queued(desk, dispatch, messages, again=again)
    for one in messages:
        keys = [key for key in one.keys if key not in taken]
        dispatch.send(one.task, one.source, keys, alone=one.alone, first=one.first)
    return messages


def _mark_queued(
    desk: Desk, dispatch: Dispatch, messages: Sequence[Message], *, again: bool
) -> set[str]:
    """Note on what the queue has room for that it is on its way, before it goes: else the next
    look, while it still waits there, would queue it once more. Returns what is not ours to
    queue."""
    rooms: dict[QueueName, int] = {}
    fitting: list[str] = []
    for message in messages:
        name = QUEUE_OF[message.task]
        rooms[name] = rooms.get(name, dispatch.room(message.task)) - 1
        if rooms[name] >= 0:
            fitting += message.keys
    taken: set[str] = set()
    for start in range(0, len(fitting), TOGETHER):
        part = fitting[start : start + TOGETHER]
        stored = [
            one
            for one in desk.store.entries(part).values()
            if one.entry.status is DocumentStatus.PENDING
        ]
        ours = [one for one in stored if again or one.entry.heartbeat is None]
        taken.update({one.entry.key for one in stored} - {one.entry.key for one in ours})
        guards = desk.store.put_entries(
            [(one.entry.model_copy(update={"heartbeat": desk.now()}), one.guard) for one in ours]
        )
        taken.update(
            one.entry.key for one, guard in zip(ours, guards, strict=True) if guard is None
        )
    return taken


def in_turn(due: Sequence[Due], chunk: int) -> Iterator[Message]:
    """Messages of all sources in turn, so that none waits for another; each source's first
    passes before its second ones, of those what answers with an old version before what was never
    read, the newest documents first."""
    by_source: dict[str, list[Message]] = {}
    for source in sorted({one.source for one in due}):
        mine = sorted((one for one in due if one.source == source), key=_order)
        by_source[source] = list(_messages(mine, chunk))
    for round_ in zip_longest(*by_source.values()):
        yield from (message for message in round_ if message is not None)


def _order(one: Due) -> tuple[bool, bool, float, str]:
    return one.task != "embed_and_commit", not one.outdated, one.age, one.key


def _messages(due: Sequence[Due], chunk: int) -> Iterator[Message]:
    open_ones: dict[tuple[TaskName, bool], list[str]] = {}
    for one in due:
        if one.alone:
            yield Message(one.source, one.task, [one.key], True, one.outdated)
            continue
        kind = (one.task, one.outdated)
        keys = open_ones.setdefault(kind, [])
        keys.append(one.key)
        if len(keys) == chunk:
            yield Message(one.source, one.task, open_ones.pop(kind), False, one.outdated)
    for (task, outdated), keys in open_ones.items():
        yield Message(due[0].source, task, keys, False, outdated)
