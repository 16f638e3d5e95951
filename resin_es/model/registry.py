"""The registry entry of a document: the truth about what is indexed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any

from pydantic import Field

from resin_es.model.base import Frozen


class DocumentStatus(str, Enum):
    """Where a document stands."""

    PENDING = "pending"
    WORKING = "working"
    INDEXED = "indexed"
    PARTIAL = "partial"
    """Answerable, but some passage could not be read or lacks its units."""
    EMPTY = "empty"
    FAILED = "failed"
    DELETED = "deleted"


ANSWERABLE = frozenset(
    {
        DocumentStatus.INDEXED,
        DocumentStatus.PARTIAL,
        DocumentStatus.WORKING,
        DocumentStatus.PENDING,
        DocumentStatus.FAILED,
    }
)
"""States whose current passages, if any, may serve as evidence: while a new version is being
read, or after that failed, the last committed one still stands."""


class PassageRef(Frozen):
    """A current passage: its id, where it starts in the document's text, its sentences.
    ``failed`` marks one whose reading failed: the next run reads it again. ``units`` counts
    the units that point to it."""

    id: str
    start: int
    sentence_ids: tuple[str, ...]
    failed: bool = False
    units: int = 0


class Counts(Frozen):
    """What a document holds, and what was turned down, by reason."""

    sentences: int = 0
    passages: int = 0
    units: int = 0
    rejected: Mapping[str, int] = Field(default_factory=dict)
    read_passages: int = 0
    """Passages that the last commit gave to the reader."""
    tokens: int = 0
    cost: float = 0.0


class StageError(Frozen):
    """The error a document failed with."""

    stage: str
    type: str
    message: str


class RegistryEntry(Frozen):
    """One document's entry. ``pipeline`` identifies the reader that wrote its units.

    Deleted entries are tombstones: no title, text, metadata or url.
    ``committed_version`` is the version that ``passages`` belong to. ``settled`` is false from
    the moment an entry changes until its stale records are purged and all of its records carry
    its rights: a run that died in between is finished by the next one.
    """

    key: str
    source: str
    external_id: str
    status: DocumentStatus
    version: str = ""
    committed_version: str = ""
    rights_hash: str = ""
    pipeline: str = ""
    title: str = ""
    text: str | None = None
    url: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    access: tuple[str, ...] = ()
    updated_at: datetime | None = None
    language: str = ""
    passages: tuple[PassageRef, ...] = ()
    counts: Counts = Counts()
    lease: str | None = None
    heartbeat: datetime | None = None
    attempts: int = 0
    not_before: datetime | None = None
    error: StageError | None = None
    committed_at: datetime | None = None
    settled: bool = True


class Guard(Frozen):
    """What a guarded write must match: Elasticsearch's ``_seq_no`` and ``_primary_term``."""

    seq_no: int
    primary_term: int
