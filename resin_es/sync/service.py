"""The background work as one object: what tasks, command line and tests call."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence

from resin_es.index.indexer import utc_now
from resin_es.model import RegistryEntry
from resin_es.model.source import SourceSpec
from resin_es.ports import UnitStore
from resin_es.ports.sync import EntryListing, ForeignIndex, SourceBook, TaskQueue
from resin_es.sync import failed, reconcile, syncing
from resin_es.sync.desk import Chance, Clock, Desk, Indexers, make_indexers
from resin_es.sync.holding import PAUSED
from resin_es.sync.reports import ReconcileReport, RightsReport, SyncReport, WorkReport
from resin_es.sync.settings import SyncSettings
from resin_es.sync.working import Working

LOOK_AGAIN_S = 0.5

__all__ = ["Desk", "Indexers", "SyncService", "make_indexers"]


class SyncService:
    """Everything here is safe to run twice, at once or one after the other: the registry's
    guards decide. Errors are of the ResinError tree, but for bugs. One service a process, made
    after a fork, since it holds leases under the process's name; not shared between threads."""

    def __init__(
        self,
        store: UnitStore,
        book: SourceBook,
        listing: EntryListing,
        index_of: Callable[[SourceSpec], ForeignIndex],
        indexers: Indexers,
        queue: TaskQueue,
        settings: SyncSettings | None = None,
        *,
        now: Clock = utc_now,
        chance: Chance = random.random,
    ) -> None:
        """``indexers`` come from :func:`make_indexers`; ``chance`` gives jitter, in [0, 1)."""
        self.desk = Desk(
            store,
            book,
            listing,
            index_of,
            indexers,
            queue,
            settings or SyncSettings(),
            now,
            chance,
        )
        self._working = Working(self.desk)

    def sync_source(self, name: str, *, full: bool = False) -> SyncReport:
        """Find what changed in the team's index. Deletions and rights are in force on return;
        content is marked pending and queued, as far as the queue has room.

        Without a field for the date of change, or with ``full``, all of it is read and compared
        by content. A paused source, or one that another sync is at, is left alone (``skipped``).
        Raises InputError (no such source), StoreError (named on the source; nothing is deleted
        after a listing that is not complete).
        """
        self._working.pay_back()
        return syncing.sync_source(self.desk, name, full=full)

    def sync_now(
        self,
        name: str,
        *,
        full: bool = False,
        wait: Callable[[], None] = lambda: time.sleep(LOOK_AGAIN_S),
    ) -> SyncReport:
        """The same, begun after this call: a sync that is at work may have passed the latest
        change already, so ``wait`` is called until it is over. Raises as sync_source."""
        while True:
            report = self.sync_source(name, full=full)
            if not report.skipped or report.skipped == PAUSED:
                return report
            wait()

    def notify(self, name: str, external_ids: Sequence[str]) -> SyncReport:
        """The same for these documents alone, gone ones included. Raises as sync_source."""
        return syncing.notify(self.desk, name, external_ids)

    def revoke(self, name: str, external_ids: Sequence[str]) -> RightsReport:
        """Take these documents from everybody but an admin, in force on return and, for a source
        that is synced, until :meth:`restore`. Raises StoreError."""
        return failed.revoke(self.desk, name, external_ids)

    def restore(self, name: str, external_ids: Sequence[str]) -> SyncReport:
        """Undo a revocation: the rights of the team's index hold again on return."""
        failed.restore(self.desk, name, external_ids)
        return self.notify(name, external_ids)

    def embed_and_commit(self, source: str, keys: Sequence[str]) -> WorkReport:
        """First pass: sentence addresses, without a model; then queues the second. Raises as
        :meth:`read_document`."""
        return self._working.embed_and_commit(source, keys)

    def read_document(self, source: str, keys: Sequence[str]) -> WorkReport:
        """Second pass: documents as they stand now are read and committed.

        A failure of a document is in report and registry. Raises ModelUnavailable, BudgetSpent
        and other errors of the set-up (named on the source; no attempt is used up), StoreError
        where Elasticsearch is away or overloaded (the documents are due again after a pause).
        """
        return self._working.read_document(source, keys)

    def purge_document(self, source: str, keys: Sequence[str]) -> WorkReport:
        """Delete documents that are gone from the team's index, or whose source is. Raises
        StoreError."""
        return self._working.purge_document(source, keys)

    def reconcile(self) -> ReconcileReport:
        """Find what the registry says is unfinished and queue it again. Raises StoreError."""
        self._working.pay_back()
        return reconcile.reconcile(self.desk)

    def failed(self, source: str | None = None) -> Iterator[RegistryEntry]:
        """The dead letter. Raises StoreError."""
        return failed.failed(self.desk, source)

    def retry(self, source: str, external_ids: Sequence[str] = ()) -> int:
        """Give dead letters (all of the source's, if none is named) their attempts back and
        queue them; returns how many. Raises StoreError."""
        return failed.retry(self.desk, source, external_ids)
