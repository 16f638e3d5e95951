"""What a document that comes in needs, judged by its registry entry alone. Pure."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from resin_es.model import EVERYONE, Document, DocumentStatus, RegistryEntry


class Need(str, Enum):
    """What is to be done with a document."""

    READ = "read"
    """New, changed, unfinished, or read by another pipeline: read (only what changed, so an
    unsettled document costs no reading, only its clean-up)."""
    RIGHTS = "rights"
    """Only access, metadata, url or date changed: rewritten without reading."""
    NOTHING = "nothing"


FINISHED = frozenset({DocumentStatus.INDEXED, DocumentStatus.EMPTY})


def decide(document: Document, entry: RegistryEntry | None, pipeline: str) -> Need:
    """Compare a document with its entry."""
    if entry is None or entry.status not in FINISHED or not entry.settled:
        return Need.READ
    if entry.committed_version != document.version or entry.pipeline != pipeline:
        return Need.READ
    if entry.rights_hash != document.rights_hash:
        return Need.RIGHTS
    return Need.NOTHING


def common_access(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Groups that may read both before and after: what holds while a new version is being
    read, so that neither a revoked right lives on nor a new one opens the old text."""
    if EVERYONE in old:
        return tuple(sorted(set(new)))
    if EVERYONE in new:
        return tuple(sorted(set(old)))
    return tuple(sorted(set(old) & set(new)))


def claimed(
    document: Document, entry: RegistryEntry | None, *, owner: str, now: datetime
) -> RegistryEntry:
    """The entry while the document is read. The last committed version still serves, under
    the rights that old and new share; attempts are counted before the work starts. ``version``
    and ``rights_hash`` are those being read, so that a newer change can be told from them."""
    if entry is None or entry.status is DocumentStatus.DELETED or not entry.passages:
        return RegistryEntry(
            key=document.key,
            source=document.source,
            external_id=document.external_id,
            access=document.access,
            status=DocumentStatus.WORKING,
            version=document.version,
            rights_hash=document.rights_hash,
            lease=owner,
            heartbeat=now,
            attempts=(entry.attempts if entry else 0) + 1,
            settled=False,
        )
    return entry.model_copy(
        update={
            "status": DocumentStatus.WORKING,
            "version": document.version,
            "rights_hash": document.rights_hash,
            "lease": owner,
            "heartbeat": now,
            "error": None,
            "not_before": None,
            "access": common_access(entry.access, document.access),
            "settled": False,
            "attempts": entry.attempts + 1,
        }
    )


def with_rights(entry: RegistryEntry, document: Document) -> RegistryEntry:
    """The entry under the document's rights. One that is at work goes back to be read again: its
    reader has the old rights in hand."""
    working = entry.status is DocumentStatus.WORKING
    back = {"status": DocumentStatus.PENDING, "lease": None, "heartbeat": None}
    return entry.model_copy(
        update={
            **(back if working else {}),
            "access": document.access,
            "metadata": document.metadata,
            "url": document.url,
            "updated_at": document.updated_at,
            "rights_hash": document.rights_hash,
        }
    )


def tombstone(entry: RegistryEntry, now: datetime) -> RegistryEntry:
    """The entry of a deleted document: no title, text, metadata, url, rights or passages."""
    return RegistryEntry(
        key=entry.key,
        source=entry.source,
        external_id=entry.external_id,
        status=DocumentStatus.DELETED,
        committed_at=now,
        settled=False,
    )
