"""The background work as one object: what tasks, command line and tests call."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from resin_es.index.indexer import Indexer, utc_now
from resin_es.model import RegistryEntry
from resin_es.model.source import SourceSpec
from resin_es.ports import UnitStore
from resin_es.ports.sync import EntryListing, ForeignIndex, SourceBook, TaskQueue
from resin_es.sync.reports import ReconcileReport, RightsReport, SyncReport, WorkReport
from resin_es.sync.settings import SyncSettings


class Indexers(NamedTuple):
    """``reading`` reads documents to units; ``addressing`` gives sentence addresses alone,
    without a model, for the first pass. Both on the same store and embedder."""

    reading: Indexer
    addressing: Indexer


class SyncService:
    """Everything here is safe to run twice, at once or one after the other: the registry's
    guards decide. Errors are of the ResinError tree. One service a process (its indexers hold
    the process's lease), made after a fork; not shared between threads."""

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
        now: Callable[[], datetime] = utc_now,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """``chance`` gives the jitter, in [0, 1)."""

    def sync_source(self, name: str, *, full: bool = False) -> SyncReport:
        """Find what changed in the team's index; deletions and rights are in force on return,
        content is marked pending and queued. Raises InputError (no such source), StoreError."""
        raise NotImplementedError

    def notify(self, name: str, external_ids: Sequence[str]) -> SyncReport:
        """The same for these documents alone, gone ones included."""
        raise NotImplementedError

    def revoke(self, name: str, external_ids: Sequence[str]) -> RightsReport:
        """Take these documents from everybody, in force on return, until they change."""
        raise NotImplementedError

    def embed_and_commit(self, source: str, keys: Sequence[str]) -> WorkReport:
        """First pass: sentence addresses committed without a model; then queues the second."""
        raise NotImplementedError

    def read_document(self, source: str, keys: Sequence[str]) -> WorkReport:
        """Second pass: read to units and commit. Raises StoreError (work is due again),
        ModelUnavailable, BudgetSpent, SettingsError (no attempt is used up)."""
        raise NotImplementedError

    def purge_document(self, source: str, keys: Sequence[str]) -> WorkReport:
        """Delete documents and all their records; finishes a delete that a crash cut short."""
        raise NotImplementedError

    def reconcile(self) -> ReconcileReport:
        """Find what the registry says is unfinished and queue it again."""
        raise NotImplementedError

    def failed(self, source: str | None = None) -> Iterator[RegistryEntry]:
        """The dead letter: documents that failed for the last time."""
        raise NotImplementedError

    def retry(self, source: str, external_ids: Sequence[str] = ()) -> int:
        """Give failed documents (all of the source's, if none is named) their attempts back
        and queue them. Returns how many."""
        raise NotImplementedError
