"""What the registry says is unfinished, whatever the queue lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import NamedTuple

from resin_es.index.lease import silent
from resin_es.model import DocumentStatus, RegistryEntry
from resin_es.ports.sync import EntryBrief, QueueName, TaskName
from resin_es.sync.desk import Desk
from resin_es.sync.dispatch import QUEUE_OF, Dispatch
from resin_es.sync.marking import crashed, retryable
from resin_es.sync.orphans import sweep
from resin_es.sync.reports import ReconcileReport
from resin_es.sync.syncing import chunks

LOOKED_AT = (DocumentStatus.PENDING, DocumentStatus.WORKING, DocumentStatus.PARTIAL)
TOGETHER = 500


class Due(NamedTuple):
    """A document to queue. ``alone`` where an attempt of it ended badly."""

    task: TaskName
    source: str
    key: str
    alone: bool
    age: float
    """Minus the date of its last change: the newest first."""


def reconcile(desk: Desk) -> ReconcileReport:
    """See :meth:`resin_es.sync.service.SyncService.reconcile`."""
    report = ReconcileReport()
    states = {one.source.spec.name: one.source.state for one in desk.book.sources()}
    active = {name for name, state in states.items() if not state.paused}
    dispatch = Dispatch(desk.queue, desk.settings)
    due: list[Due] = []
    lost: list[EntryBrief] = []
    graves: dict[str, list[str]] = {}
    for brief in desk.listing.briefs(None, LOOKED_AT, unsettled=True):
        if brief.status is DocumentStatus.DELETED:
            graves.setdefault(brief.source, []).append(brief.external_id)
        elif brief.source not in active:
            continue
        elif brief.status is DocumentStatus.WORKING:
            if _silent(desk, brief.lease, brief.heartbeat):
                lost.append(brief)
        elif _is_due(desk, brief, dispatch):
            due.append(_due(brief))
    for source, external_ids in graves.items():
        desk.indexers.reading.delete(source, external_ids)
        report.settled += len(external_ids)
    due += _crashed(desk, lost, report)
    report.due = len(due)
    messages = list(in_turn(due, desk.settings.chunk))
    _mark_queued(desk, dispatch, messages)
    for source, task, keys, alone in messages:
        dispatch.send(task, source, keys, alone=alone)
        report.by_source[source] += len(keys)
    sent = dispatch.sent
    report.queued, report.tasks, report.held = sent.queued, sent.tasks, sent.held
    report.queue_error = dispatch.error
    sweep(desk, report)
    return report


def _silent(desk: Desk, owner: str | None, heartbeat: datetime | None) -> bool:
    lease = timedelta(seconds=desk.settings.lease_s)
    return silent(owner, heartbeat, now=desk.now(), lease=lease)


def _is_due(desk: Desk, brief: EntryBrief, dispatch: Dispatch) -> bool:
    """Whether a document that nobody works on should be. One that was queued not long ago is
    on its way, unless the queue has nothing at all."""
    if brief.status in (DocumentStatus.INDEXED, DocumentStatus.EMPTY):
        return not brief.settled
    ready = retryable(
        brief.status, brief.attempts, brief.not_before, settings=desk.settings, now=desk.now()
    )
    if not ready:
        return brief.status is DocumentStatus.PARTIAL and not brief.settled
    if brief.heartbeat is None or brief.status is not DocumentStatus.PENDING:
        return True
    on_its_way = desk.now() - brief.heartbeat < timedelta(seconds=desk.settings.lease_s)
    return not (on_its_way and dispatch.depth(_task(brief)) > 0)


def _task(brief: EntryBrief) -> TaskName:
    return "read_document" if brief.committed else "embed_and_commit"


def _due(brief: EntryBrief) -> Due:
    age = -brief.updated_at.timestamp() if brief.updated_at else float("inf")
    return Due(_task(brief), brief.source, brief.key, brief.attempts > 0, age)


def _crashed(desk: Desk, lost: Sequence[EntryBrief], report: ReconcileReport) -> list[Due]:
    """Entries whose owner is gone, looked at once more as they stand now."""
    back: list[Due] = []
    briefs = {brief.key: brief for brief in lost}
    for keys in chunks(list(briefs), TOGETHER):
        stored = [
            one
            for one in desk.store.entries(keys).values()
            if one.entry.status is DocumentStatus.WORKING
            and _silent(desk, one.entry.lease, one.entry.heartbeat)
        ]
        entries = [crashed(one.entry, desk.settings) for one in stored]
        guards = desk.store.put_entries(
            [(entry, one.guard) for entry, one in zip(entries, stored, strict=True)]
        )
        for entry, guard in zip(entries, guards, strict=True):
            if guard is None:
                continue
            report.crashed += 1
            if entry.status is DocumentStatus.FAILED:
                report.dead += 1
            else:
                back.append(_again(entry, briefs[entry.key]))
    return back


def _again(entry: RegistryEntry, brief: EntryBrief) -> Due:
    task: TaskName = "read_document" if entry.passages else "embed_and_commit"
    return _due(brief)._replace(task=task, alone=True)


Message = tuple[str, TaskName, list[str], bool]


def _mark_queued(desk: Desk, dispatch: Dispatch, messages: Sequence[Message]) -> None:
    """Note on what the queue has room for that it is on its way, before it goes: else the next
    look, while it still waits there, would queue it once more."""
    rooms: dict[QueueName, int] = {}
    fitting: list[str] = []
    for _, task, keys, _ in messages:
        name = QUEUE_OF[task]
        rooms[name] = rooms.get(name, dispatch.room(task)) - 1
        if rooms[name] >= 0:
            fitting += keys
    for part in chunks(fitting, TOGETHER):
        desk.store.put_entries(
            [
                (one.entry.model_copy(update={"heartbeat": desk.now()}), one.guard)
                for one in desk.store.entries(part).values()
                if one.entry.status is DocumentStatus.PENDING
            ]
        )


def in_turn(due: Sequence[Due], chunk: int) -> Iterator[Message]:
    """Messages of all sources in turn, so that none waits for another; each source's first
    passes before its second ones, the newest documents first."""
    by_source: dict[str, list[Message]] = {}
    for source in sorted({one.source for one in due}):
        mine = sorted(
            (one for one in due if one.source == source),
            key=lambda one: (one.task != "embed_and_commit", one.age, one.key),
        )
        by_source[source] = list(_messages(mine, chunk))
    for round_ in zip_longest(*by_source.values()):
        yield from (message for message in round_ if message is not None)


def _messages(due: Sequence[Due], chunk: int) -> Iterator[Message]:
    open_ones: dict[TaskName, list[str]] = {}
    for one in due:
        if one.alone:
            yield one.source, one.task, [one.key], True
            continue
        keys = open_ones.setdefault(one.task, [])
        keys.append(one.key)
        if len(keys) == chunk:
            yield one.source, one.task, open_ones.pop(one.task), False
    for task, keys in open_ones.items():
        yield due[0].source, task, keys, False
