"""What changed in a team's index since the last look."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from resin_es.errors import InputError, ResinError
from resin_es.model import Document, DocumentStatus
from resin_es.model.source import Source
from resin_es.ports.sync import Unreadable
from resin_es.sync.applying import Applying
from resin_es.sync.backlog import Backlog
from resin_es.sync.desk import Desk
from resin_es.sync.dispatch import Dispatch
from resin_es.sync.holding import PAUSED, Hold, Stopped, TakenOver, known_source
from resin_es.sync.reports import SyncReport
from resin_es.sync.spec import drifted
from resin_es.sync.withholding import withhold

UNREADABLE_KEPT = 100
BATCH_DOCUMENTS, BATCH_CHARACTERS = 200, 2_000_000
DELETED_TOGETHER = 500
CLOCKS_APART = timedelta(minutes=5)
"""How far the team's clock and ours may be apart."""


def sync_source(desk: Desk, name: str, *, full: bool = False) -> SyncReport:
    """See :meth:`resin_es.sync.service.SyncService.sync_source`."""
    report = SyncReport(source=name, full=full)
    started, moment = time.monotonic(), desk.now()
    hold = Hold(desk, name)
    if hold.refusal:
        report.skipped = hold.refusal
        return report
    try:
        sync = _Sync(desk, hold.source, report, beat=hold.beat)
        newest = sync.run()
        hold.finish(
            synced_at=moment,
            watermark=_watermark(hold.source, newest, moment),
            unreadable=dict(islice(sync.unreadable.items(), UNREADABLE_KEPT)),
            **({"full_at": moment} if sync.since is None else {}),
        )
    except TakenOver as error:
        report.skipped = error.message
    except Stopped as stop:
        hold.let_go()
        report.skipped = stop.message
    except ResinError as error:
        hold.fail(error)
    report.seconds = time.monotonic() - started
    return report


def _watermark(source: Source, newest: datetime | None, moment: datetime) -> datetime | None:
    """The newest change seen, never one of the future: all later changes would be missed."""
    if not source.spec.updated_field:
        return None
    known = [one for one in (source.state.watermark, newest) if one is not None]
    return min(max(known), moment) if known else None


def notify(desk: Desk, name: str, external_ids: Sequence[str]) -> SyncReport:
    """See :meth:`resin_es.sync.service.SyncService.notify`."""
    report = SyncReport(source=name)
    started = time.monotonic()
    source = known_source(desk, name).source
    wanted = list(dict.fromkeys(external_ids))
    report.listed = len(wanted)
    while not source.state.paused:
        sync = _Sync(desk, source, report, beat=lambda: None)
        sync.look_at(wanted)
        sync.close()
        seen, source = source, known_source(desk, name).source
        if source.spec == seen.spec:
            break  # else it was changed meanwhile, and what was applied is what it said before
    else:
        report.skipped = PAUSED
    report.seconds = time.monotonic() - started
    return report


class _Sync:
    """One look at a source. ``since`` is None where all of it is read."""

    def __init__(
        self, desk: Desk, source: Source, report: SyncReport, *, beat: Callable[[], None]
    ) -> None:
        self._desk, self._spec, self._report, self._beat = desk, source.spec, report, beat
        self._name = source.spec.name
        others = [one for one in desk.book.sources() if not one.source.state.paused]
        self._dispatch = Dispatch(desk.queue, desk.settings, share=len(others))
        self._backlog = Backlog(desk, self._dispatch)
        self._index = desk.index_of(source.spec)
        self._applying = Applying(
            desk,
            self._name,
            self._backlog,
            report,
            lambda external_ids: self._index.fetch(self._spec, external_ids),
        )
        self._newest: datetime | None = None
        self.since = self._since(source)
        report.full = self.since is None
        self.unreadable = {} if report.full else dict(source.state.unreadable)

    def _since(self, source: Source) -> datetime | None:
        """The overlap window is read again until a sync came late enough to have seen all that
        was written into it."""
        watermark = source.state.watermark
        if self._report.full or not source.spec.updated_field or watermark is None:
            return None
        overlap = timedelta(seconds=source.spec.overlap_seconds)
        synced = source.state.synced_at
        if synced is not None and synced - watermark >= overlap + CLOCKS_APART:
            return watermark + timedelta(milliseconds=1)
        return watermark - overlap

    def run(self) -> datetime | None:
        """Returns the newest date of change seen. Raises StoreError; nothing is deleted then
        unless the listing was complete. Raises InputError where the index lost the fields
        without which all of it would pass for unchanged, or for empty."""
        alive, dying = self._known()
        lost = drifted(self._spec, self._index.fields(self._spec.index))
        if lost:
            seen = self._ids()
        elif self.since is None:
            seen = self._take(self._index.documents(self._spec))
        else:
            known = alive | self._take(self._index.documents(self._spec, self.since))
            seen = self._ids()
            self.look_at([one for one in sorted(seen) if one not in known], gone=False)
        self._report.listed = len(seen)
        # Listed after the registry: what is in the registry but not here went in between, or
        # before; what came in between is in neither and stays for the next sync.
        self._delete(sorted((alive | dying) - seen))
        self.unreadable = {k: told for k, told in self.unreadable.items() if k in seen}
        self.close()
        if lost and seen:
            raise InputError(
                f"Index {self._spec.index!r} fits source {self._name!r} no more: "
                f"{'; '.join(lost)}.",
                hint="What is gone was deleted, and nothing read. Mend the index, or name its "
                "fields anew: `resin-es source add --replace`.",
            )
        return self._newest

    def _known(self) -> tuple[set[str], set[str]]:
        """External ids that the registry has, and those whose deletion is not finished."""
        alive: set[str] = set()
        dying: set[str] = set()
        for brief in self._desk.listing.briefs(self._name):
            if brief.status is not DocumentStatus.DELETED:
                alive.add(brief.external_id)
            elif not brief.settled:
                dying.add(brief.external_id)
        return alive, dying

    def _ids(self) -> set[str]:
        seen: set[str] = set()
        for external_id in self._index.ids(self._spec):
            seen.add(external_id)
            if len(seen) % 1_000 == 0:
                self._beat()
        return seen

    def _take(self, found: Iterable[Document | Unreadable]) -> set[str]:
        """Apply what a listing gives, batch by batch; returns the ids it held."""
        seen: set[str] = set()
        for batch in batches(found):
            self._beat()
            seen.update(one.external_id for one in batch)
            self._apply(batch)
        return seen

    def _apply(self, batch: Sequence[Document | Unreadable]) -> None:
        unreadable = [one for one in batch if isinstance(one, Unreadable)]
        self._report.unreadable += [(one.external_id, one.reason) for one in unreadable]
        self.unreadable.update((one.external_id, one.reason) for one in unreadable)
        self._report.rights_changed += withhold(self._desk, self._name, unreadable)
        documents = [one for one in batch if isinstance(one, Document)]
        for one in documents:
            self.unreadable.pop(one.external_id, None)
            if one.updated_at and (self._newest is None or one.updated_at > self._newest):
                self._newest = one.updated_at
        self._applying.apply(documents)

    def look_at(self, external_ids: Sequence[str], *, gone: bool = True) -> None:
        """Apply these documents as they stand; with ``gone``, delete those that are not there."""
        for chunk in chunks(external_ids, BATCH_DOCUMENTS):
            self._beat()
            found = self._index.fetch(self._spec, chunk)
            self._apply(list(found.values()))
            if gone:
                self._bury([one for one in chunk if one not in found])

    def _delete(self, external_ids: Sequence[str]) -> None:
        """A listing knows what was refreshed; each id is asked for once more by itself."""
        for chunk in chunks(external_ids, DELETED_TOGETHER):
            self._beat()
            found = self._index.fetch(self._spec, chunk)
            self._bury([one for one in chunk if one not in found])

    def _bury(self, external_ids: Sequence[str]) -> None:
        if external_ids:
            done = self._desk.indexers.reading.delete(self._name, external_ids)
            self._report.deleted += done.deleted

    def close(self) -> None:
        """Queue what was marked, now that all of it is known. Raises StoreError."""
        self._backlog.send()
        sent = self._dispatch.sent
        self._report.queued, self._report.held = sent.queued, sent.held
        self._report.tasks, self._report.queue_error = sent.tasks, self._dispatch.error


def chunks(items: Sequence[str], size: int) -> Iterator[list[str]]:
    """Lists of up to ``size``, in order."""
    left = iter(items)
    while chunk := list(islice(left, size)):
        yield chunk


def batches(found: Iterable[Document | Unreadable]) -> Iterator[list[Document | Unreadable]]:
    """Bounded by documents and by characters."""
    batch: list[Document | Unreadable] = []
    size = 0
    for one in found:
        length = len(one.text) if isinstance(one, Document) else 0
        if batch and (len(batch) >= BATCH_DOCUMENTS or size + length > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
    if batch:
        yield batch
