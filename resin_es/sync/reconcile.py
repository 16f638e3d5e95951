"""What the registry says is unfinished, whatever the queue lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from resin_es.index.lease import silent
from resin_es.model import DocumentStatus, RegistryEntry
from resin_es.ports.sync import EntryBrief, TaskName
from resin_es.sync.backlog import TOGETHER, Due, age, first_task, send
from resin_es.sync.desk import Desk
from resin_es.sync.dispatch import Dispatch
from resin_es.sync.marking import crashed, retryable
from resin_es.sync.orphans import sweep
from resin_es.sync.reports import ReconcileReport
from resin_es.sync.syncing import chunks

LOOKED_AT = (DocumentStatus.PENDING, DocumentStatus.WORKING, DocumentStatus.PARTIAL)


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
    for one in send(desk, dispatch, due, again=True):
        report.by_source[one.source] += len(one.keys)
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
    old, alone = brief.outdated, brief.attempts > 0
    return Due(_task(brief), brief.source, brief.key, alone, age(brief.updated_at), old)


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
    return _due(brief)._replace(task=first_task(entry), alone=True)
