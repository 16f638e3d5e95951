"""What becomes of a registry entry: marked, tried again, given up, brought back. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from resin_es.errors import ReadingError
from resin_es.index.decide import common_access
from resin_es.model import Document, DocumentStatus, RegistryEntry, StageError
from resin_es.sync.settings import SyncSettings

FINISHED = frozenset({DocumentStatus.INDEXED, DocumentStatus.PARTIAL, DocumentStatus.EMPTY})
"""A version is committed and nothing newer is wanted."""

CRASH_STAGE = "worker"


class Verdict(Enum):
    """What a document as it stands in the team's index means for its entry."""

    NEW = "new"
    CHANGED = "changed"
    """Its content, or the pipeline that is to read it."""
    RIGHTS = "rights"
    """Rights alone, and the committed version is the one they are for: applied in full."""
    NARROWED = "narrowed"
    """Rights alone, of a version that is not committed yet: what old and new share holds until
    then, and whoever reads it under the old rights must lose."""
    WAITING = "waiting"
    SAME = "same"


def verdict(document: Document, entry: RegistryEntry | None, pipeline: str) -> Verdict:
    """Compare a document with its entry. ``version`` and ``rights_hash`` of an entry that is
    pending or at work are those it is pending for."""
    if entry is None or entry.status is DocumentStatus.DELETED:
        return Verdict.NEW
    if entry.version != document.version:
        return Verdict.CHANGED
    if entry.status in FINISHED:
        read = entry.pipeline == pipeline or entry.status is DocumentStatus.EMPTY
        if entry.committed_version != document.version or not read:
            return Verdict.CHANGED
    if entry.rights_hash != document.rights_hash:
        committed = entry.committed_version == document.version
        return Verdict.RIGHTS if committed else Verdict.NARROWED
    return Verdict.SAME if entry.status in FINISHED | {DocumentStatus.FAILED} else Verdict.WAITING


def pending(
    document: Document, entry: RegistryEntry | None, *, queued_at: datetime | None
) -> RegistryEntry:
    """The entry of a new or changed document until it is read. The last committed version
    serves on, under the rights that old and new share. ``queued_at`` (kept as heartbeat) tells
    ``reconcile`` that a task is on its way."""
    wanted: dict[str, Any] = {
        "status": DocumentStatus.PENDING,
        "version": document.version,
        "rights_hash": document.rights_hash,
        "attempts": 0,
        "not_before": None,
        "error": None,
        "lease": None,
        "heartbeat": queued_at,
    }
    if entry is not None and entry.status is not DocumentStatus.DELETED and entry.passages:
        access = common_access(entry.access, document.access)
        settled = entry.settled and access == entry.access
        return entry.model_copy(update={**wanted, "access": access, "settled": settled})
    clean = entry is None or (entry.settled and entry.status is not DocumentStatus.DELETED)
    return RegistryEntry(
        key=document.key,
        source=document.source,
        external_id=document.external_id,
        access=document.access,
        updated_at=document.updated_at,
        settled=clean,
        **wanted,
    )


def narrowed(document: Document, entry: RegistryEntry) -> RegistryEntry:
    """The entry of a document whose rights changed while its version is not committed yet. An
    attempt under way is called off, and costs nothing."""
    access = common_access(entry.access, document.access) if entry.passages else document.access
    changed = entry.model_copy(
        update={
            "access": access,
            "rights_hash": document.rights_hash,
            "settled": entry.settled and (access == entry.access or not entry.passages),
        }
    )
    return called_off(changed) if entry.status is DocumentStatus.WORKING else changed


def called_off(entry: RegistryEntry, not_before: datetime | None = None) -> RegistryEntry:
    """Back to waiting, the attempt given back: what ended it was not the document's fault."""
    return entry.model_copy(
        update={
            "status": DocumentStatus.PENDING,
            "lease": None,
            "heartbeat": None,
            "attempts": max(0, entry.attempts - 1),
            "not_before": not_before,
        }
    )


def backoff(attempts: int, settings: SyncSettings, chance: float) -> timedelta:
    """The pause after a failed attempt (counted from 1): doubled each time up to a ceiling, of
    which ``chance`` (in [0, 1)) takes the upper half, so that what failed together does not
    come back together."""
    doubled = settings.backoff_s * 2.0 ** min(max(attempts, 1) - 1, 60)
    return timedelta(seconds=min(settings.max_backoff_s, doubled) * (0.5 + chance / 2))


def tried(
    entry: RegistryEntry,
    error: StageError,
    settings: SyncSettings,
    *,
    now: datetime,
    chance: float,
) -> RegistryEntry:
    """After an attempt (already counted) that failed: it waits, or it is a dead letter."""
    dead = entry.attempts >= settings.max_attempts
    pause = backoff(entry.attempts, settings, chance)
    return entry.model_copy(
        update={
            "status": DocumentStatus.FAILED if dead else DocumentStatus.PENDING,
            "lease": None,
            "heartbeat": None,
            "not_before": None if dead else now + pause,
            "error": error,
        }
    )


def alone(entry: RegistryEntry, error: StageError) -> RegistryEntry:
    """After a batch failed, and it is not known which of its documents did it: due at once.
    The attempt stays counted, which is what makes ``reconcile`` queue it by itself."""
    return entry.model_copy(
        update={
            "status": DocumentStatus.PENDING,
            "lease": None,
            "heartbeat": None,
            "not_before": None,
            "error": error,
        }
    )


def crashed(entry: RegistryEntry, settings: SyncSettings) -> RegistryEntry:
    """After the owner died or fell silent: due at once and alone, or a dead letter."""
    times = f"{entry.attempts} time{'s' if entry.attempts != 1 else ''}"
    error = StageError(
        stage=CRASH_STAGE, type="WorkerDied", message=f"its worker died {times} or fell silent"
    )
    back = alone(entry, error)
    if entry.attempts < settings.max_attempts:
        return back
    return back.model_copy(update={"status": DocumentStatus.FAILED})


def resurrected(entry: RegistryEntry, *, queued_at: datetime | None) -> RegistryEntry:
    """A dead letter with all its attempts back."""
    return entry.model_copy(
        update={
            "status": DocumentStatus.PENDING,
            "attempts": 0,
            "not_before": None,
            "error": None,
            "lease": None,
            "heartbeat": queued_at,
        }
    )


def retryable(
    status: DocumentStatus,
    attempts: int,
    not_before: datetime | None,
    *,
    settings: SyncSettings,
    now: datetime,
) -> bool:
    """Whether a document that waits, or was read in part, may be tried now."""
    if not_before is not None and not_before > now:
        return False
    if status is DocumentStatus.PARTIAL:
        return attempts < settings.max_attempts
    return status is DocumentStatus.PENDING


def stage_error(error: BaseException, stage: str) -> StageError:
    """An error as the registry keeps it."""
    named = error.stage if isinstance(error, ReadingError) else stage
    return StageError(stage=named, type=type(error).__name__, message=str(error)[:2_000])
