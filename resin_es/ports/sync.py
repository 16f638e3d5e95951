"""What keeps documents fresh in the background: sources, the team's own index, the queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from resin_es.model import Document, DocumentStatus, Guard
from resin_es.model.base import Frozen
from resin_es.model.source import Source, SourceSpec

TaskName = Literal[
    "sync_source", "embed_and_commit", "read_document", "purge_document", "reconcile"
]
"""Tasks carry a source's name and document keys, nothing else, and are safe to run twice."""

QueueName = Literal["sync", "read", "index"]


class StoredSource(Frozen):
    """A source as read, with the guard for writing it back."""

    source: Source
    guard: Guard


class SourceBook(Protocol):
    """The sources, kept in the ``sources`` family; realtime. Raises StoreError."""

    def source(self, name: str) -> StoredSource | None: ...

    def sources(self) -> Sequence[StoredSource]: ...

    def put_source(self, source: Source, guard: Guard | None) -> Guard:
        """Create (guard None) or replace under the guard. Raises StoreConflict."""
        ...

    def remove_source(self, name: str) -> None: ...


class EntryBrief(Frozen):
    """A registry entry without title, text, metadata and passages: cheap to list by the
    ten thousand."""

    key: str
    external_id: str
    source: str
    status: DocumentStatus
    attempts: int = 0
    not_before: datetime | None = None
    lease: str | None = None
    heartbeat: datetime | None = None
    updated_at: datetime | None = None
    settled: bool = True
    committed: bool = False
    """Whether a version is committed: answerable, whatever the status."""
    outdated: bool = False
    """Whether the committed version is not the one that is wanted: what it answers is old."""


class EntryListing(Protocol):
    """Registry listings, as of the last refresh; complete or an error."""

    def briefs(
        self,
        source: str | None = None,
        statuses: Sequence[DocumentStatus] = (),
        *,
        unsettled: bool = False,
    ) -> Iterator[EntryBrief]:
        """Entries of a source (all, if None) in any of ``statuses`` (all, if empty); with
        ``unsettled`` also those whose clean-up is not finished."""
        ...


class FieldInfo(Frozen):
    """A field of the team's mapping."""

    type: str
    nested: bool = False
    """Whether it, or an object it stands in, is ``nested``."""


class Unreadable(Frozen):
    """A hit that makes no document, and why (no id, too large, a broken date …). ``access``: who
    may read it by now, None where that cannot be told; what was indexed of it before stays, but
    not for those who lost the right meanwhile."""

    external_id: str
    reason: str
    access: tuple[str, ...] | None = None


class ForeignIndex(Protocol):
    """A team's own index, read only. Raises StoreError; an incomplete listing is an error,
    never a short one."""

    def fields(self, index: str) -> Mapping[str, FieldInfo]:
        """Fields by dotted path, multi-fields too. Raises InputError if there is no such
        index."""
        ...

    def count(self, spec: SourceSpec, since: datetime | None = None) -> int: ...

    def documents(
        self, spec: SourceSpec, since: datetime | None = None
    ) -> Iterator[Document | Unreadable]:
        """Every document (changed at or after ``since``), by point in time and ``search_after``,
        in ``spec.slices`` slices. One without text is a Document with empty text."""
        ...

    def ids(self, spec: SourceSpec) -> Iterator[str]:
        """External ids alone."""
        ...

    def fetch(
        self, spec: SourceSpec, external_ids: Sequence[str]
    ) -> Mapping[str, Document | Unreadable]:
        """Documents as they stand now, by external id; one that is gone is absent, one that is
        there but makes no document is Unreadable (it must not pass for a deleted one)."""
        ...


class TaskQueue(Protocol):
    """Where tasks go. A queue that loses everything loses no work: the registry has it."""

    def put(
        self, task: TaskName, source: str = "", keys: Sequence[str] = (), *, first: bool = False
    ) -> None:
        """``first``: before what waits in the task's queue without it. Raises
        QueueUnavailable."""
        ...

    def depth(self, queue: QueueName) -> int:
        """Messages waiting. Raises QueueUnavailable."""
        ...
