"""Transitions of registry entries, for whatever comes."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from resin_es.errors import ReadingError
from resin_es.model import EVERYONE, Document, DocumentStatus, PassageRef, RegistryEntry
from resin_es.sync.marking import (
    Verdict,
    alone,
    backoff,
    called_off,
    crashed,
    narrowed,
    pending,
    resurrected,
    retryable,
    stage_error,
    tried,
    verdict,
)
from resin_es.sync.settings import SyncSettings

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
SETTINGS = SyncSettings(max_attempts=3, backoff_s=10, max_backoff_s=60)
STATUSES = [one for one in DocumentStatus if one is not DocumentStatus.DELETED]
groups = st.lists(st.sampled_from(["a", "b", "c", EVERYONE]), max_size=3).map(
    lambda names: tuple(sorted(set(names)))
)
texts = st.sampled_from(["one", "two"])
documents = st.builds(
    lambda text, access: Document(source="s", external_id="d", text=text, access=access),
    texts,
    groups,
)


@st.composite
def entries(draw: st.DrawFn, statuses: Any = tuple(DocumentStatus)) -> RegistryEntry:
    """An entry as background work may leave it: what is committed may be older than what is
    wanted, but not where it is finished."""
    wanted, committed = draw(documents), draw(documents)
    status = draw(st.sampled_from(statuses))
    if status is DocumentStatus.DELETED:
        return RegistryEntry(key=wanted.key, source="s", external_id="d", status=status)
    never = draw(st.booleans()) and status not in (DocumentStatus.INDEXED, DocumentStatus.PARTIAL)
    finished = status in (DocumentStatus.INDEXED, DocumentStatus.PARTIAL, DocumentStatus.EMPTY)
    held = wanted if finished else committed
    return RegistryEntry(
        key=wanted.key,
        source="s",
        external_id="d",
        status=status,
        version=wanted.version,
        committed_version="" if never else held.version,
        rights_hash=wanted.rights_hash,
        pipeline="p",
        access=wanted.access if never else held.access,
        passages=()
        if never or status is DocumentStatus.EMPTY
        else (PassageRef(id="x", start=0, sentence_ids=("y",)),),
        attempts=draw(st.integers(0, 5)),
        lease="h:1:x" if status is DocumentStatus.WORKING else None,
        heartbeat=NOW if status is DocumentStatus.WORKING else None,
        settled=draw(st.booleans()),
    )


def may_read(access: tuple[str, ...], group: str) -> bool:
    return EVERYONE in access or group in access


@given(documents, entries())
def test_marking_settles_the_verdict(document: Document, entry: RegistryEntry) -> None:
    """What was marked for a document waits, and is not marked for it again."""
    judged = verdict(document, entry, "p")
    if judged in (Verdict.NEW, Verdict.CHANGED):
        marked = pending(document, entry, queued_at=NOW)
        assert marked.status is DocumentStatus.PENDING
        assert (marked.attempts, marked.not_before, marked.error, marked.lease) == (
            0,
            None,
            None,
            None,
        )
        assert verdict(document, marked, "p") is Verdict.WAITING
    if judged is Verdict.NARROWED:
        assert verdict(document, narrowed(document, entry), "p") in (
            Verdict.WAITING,
            Verdict.SAME,
        )


@given(documents, entries())
def test_nobody_gains_by_a_mark(document: Document, entry: RegistryEntry) -> None:
    """Until the new version stands, only those read who may read the old one and the new one;
    what was never committed has nothing to protect."""
    for marked in (pending(document, entry, queued_at=None), narrowed(document, entry)):
        for group in "abc":
            allowed = may_read(marked.access, group)
            assert not allowed or may_read(document.access, group)
            if entry.passages:
                wanted = may_read(entry.access, group) and may_read(document.access, group)
                assert allowed is wanted


@given(documents, entries(STATUSES))
def test_a_mark_keeps_what_is_committed(document: Document, entry: RegistryEntry) -> None:
    marked = pending(document, entry, queued_at=None)
    assert marked.passages == entry.passages
    if entry.passages:
        assert marked.committed_version == entry.committed_version
        assert marked.settled is (entry.settled and marked.access == entry.access)


@given(documents, entries(), st.text(max_size=3))
def test_a_change_of_content_is_never_missed(
    document: Document, entry: RegistryEntry, pipeline: str
) -> None:
    judged = verdict(document, entry, pipeline)
    if judged in (Verdict.SAME, Verdict.WAITING):
        assert entry.version == document.version
        assert entry.rights_hash == document.rights_hash
    if judged is Verdict.RIGHTS:
        assert entry.committed_version == document.version


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_pauses_double_up_to_a_ceiling(attempts: int, chance: float) -> None:
    pause = backoff(attempts, SETTINGS, chance)
    ceiling = min(60.0, 10.0 * 2.0 ** min(attempts - 1, 10))
    assert timedelta(seconds=ceiling / 2) <= pause <= timedelta(seconds=ceiling)


@given(st.integers(1, 10_000))
def test_pauses_are_spread(attempts: int) -> None:
    assert backoff(attempts, SETTINGS, 0.0) < backoff(attempts, SETTINGS, 0.9)


@given(entries([DocumentStatus.WORKING]), st.floats(0, 1, exclude_max=True))
def test_after_a_failed_attempt_it_waits_or_is_dead(entry: RegistryEntry, chance: float) -> None:
    error = stage_error(ReadingError("no", stage="units"), "read")
    after = tried(entry, error, SETTINGS, now=NOW, chance=chance)
    assert (after.lease, after.error, after.attempts) == (None, error, entry.attempts)
    assert (after.access, after.passages) == (entry.access, entry.passages)
    if entry.attempts >= 3:
        assert after.status is DocumentStatus.FAILED
        assert after.not_before is None
    else:
        assert after.status is DocumentStatus.PENDING
        assert after.not_before is not None
        assert after.not_before > NOW


@given(entries([DocumentStatus.WORKING]))
def test_what_is_no_fault_of_the_document_costs_nothing(entry: RegistryEntry) -> None:
    back = called_off(entry)
    assert back.attempts == max(0, entry.attempts - 1)
    assert (back.status, back.lease, back.heartbeat) == (DocumentStatus.PENDING, None, None)


@given(entries([DocumentStatus.WORKING]))
def test_a_crash_is_an_attempt(entry: RegistryEntry) -> None:
    after = crashed(entry, SETTINGS)
    dead = entry.attempts >= 3
    assert after.status is (DocumentStatus.FAILED if dead else DocumentStatus.PENDING)
    assert after.attempts == entry.attempts
    assert after.error is not None
    assert after.lease is None


@given(entries([DocumentStatus.FAILED]))
def test_a_dead_letter_is_brought_back_whole(entry: RegistryEntry) -> None:
    back = resurrected(entry, queued_at=NOW)
    assert (back.status, back.attempts, back.error) == (DocumentStatus.PENDING, 0, None)
    assert retryable(back.status, 0, back.not_before, settings=SETTINGS, now=NOW)


def test_an_error_tells_its_own_stage() -> None:
    assert stage_error(ReadingError("no", stage="units"), "read").stage == "units"
    assert stage_error(ValueError("no"), "read").model_dump() == {
        "stage": "read",
        "type": "ValueError",
        "message": "no",
    }


def test_only_what_is_due_and_has_attempts_left_is_tried() -> None:
    later = NOW + timedelta(seconds=1)
    cases = [
        (DocumentStatus.PENDING, 9, None, True),
        (DocumentStatus.PENDING, 0, later, False),
        (DocumentStatus.PENDING, 0, NOW, True),
        (DocumentStatus.PARTIAL, 2, NOW, True),
        (DocumentStatus.PARTIAL, 3, None, False),
        (DocumentStatus.FAILED, 0, None, False),
        (DocumentStatus.INDEXED, 0, None, False),
    ]
    for status, attempts, not_before, wanted in cases:
        assert retryable(status, attempts, not_before, settings=SETTINGS, now=NOW) is wanted


def test_after_a_batch_failed_each_is_due_at_once() -> None:
    entry = RegistryEntry(
        key="k", source="s", external_id="d", status=DocumentStatus.WORKING, attempts=1
    )
    back = alone(entry, stage_error(ValueError("no"), "read"))
    assert (back.status, back.attempts, back.not_before) == (DocumentStatus.PENDING, 1, None)
