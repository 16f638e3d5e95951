"""A claimed document, the records of its commit, its entry after the flip. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from resin_es.extract.read import Reading
from resin_es.index.records import (
    PASSAGES,
    SENTENCES,
    UNITS,
    passage_record,
    sentence_record,
    unit_record,
)
from resin_es.model import (
    Counts,
    Document,
    DocumentStatus,
    Guard,
    Passage,
    PassageRef,
    RegistryEntry,
    Sentence,
)
from resin_es.ports import AddressRecord, RecordRef

RetryAt = Callable[[int, datetime], datetime | None]
"""When a document is tried again, given its attempts so far and the time it is now."""


def at_once(attempts: int, now: datetime) -> datetime | None:
    """Whoever runs next may try again."""
    return None


@dataclass(frozen=True)
class Work:
    """A claimed document: its entry as claimed, the claim's guard, the entry before."""

    document: Document
    entry: RegistryEntry
    guard: Guard
    before: RegistryEntry | None


@dataclass(frozen=True)
class Records:
    """What a document's commit writes, and which record ids are current after it."""

    addresses: tuple[AddressRecord, ...]
    passages: tuple[AddressRecord, ...]
    kept_passages: frozenset[str]
    current: Mapping[str, frozenset[str]] = field(default_factory=dict)
    kept: tuple[Passage, ...] = ()
    sentences: Mapping[str, Sentence] = field(default_factory=dict)

    def stale(self, ref: RecordRef) -> bool:
        """Whether a stored record of this document has no place in the new version. Units of a
        kept passage are current although nothing wrote them this time."""
        if ref.id in self.current[ref.family]:
            return False
        return not (ref.family == UNITS and ref.passage_id in self.kept_passages)


def _status(reading: Reading, provisional: bool) -> DocumentStatus:
    if not reading.sentences:
        return DocumentStatus.EMPTY
    if provisional:
        return DocumentStatus.PENDING
    return DocumentStatus.PARTIAL if reading.failures else DocumentStatus.INDEXED


def _first(before: RegistryEntry | None) -> bool:
    """Whether nothing of the document was ever written, so that there is nothing to purge."""
    if before is None:
        return True
    return before.settled and before.status is DocumentStatus.PENDING and not before.passages


def committed_entry(
    work: Work,
    reading: Reading,
    *,
    pipeline: str,
    now: datetime,
    provisional: bool = False,
    retry_at: RetryAt = at_once,
) -> RegistryEntry:
    """The entry after the flip. ``provisional``: it answers, and waits for its reading. What was
    read in full has its attempts back; what failed in part is tried again at ``retry_at``."""
    status = _status(reading, provisional)
    partial = status is DocumentStatus.PARTIAL
    document = work.document
    refs = _with_unit_counts(work, reading)
    return RegistryEntry(
        key=document.key,
        source=document.source,
        external_id=document.external_id,
        status=status,
        version=document.version,
        committed_version=document.version,
        rights_hash=document.rights_hash,
        pipeline=pipeline,
        title=document.title,
        text=document.text,
        url=document.url,
        metadata=document.metadata,
        access=document.access,
        updated_at=document.updated_at,
        language=reading.language,
        passages=refs,
        counts=Counts(
            sentences=len(reading.sentences),
            passages=len(reading.passages),
            units=sum(ref.units for ref in refs),
            rejected=dict(reading.rejected),
            read_passages=reading.read_passages,
            tokens=reading.tokens,
            cost=reading.cost,
        ),
        attempts=work.entry.attempts if partial else 0,
        not_before=retry_at(work.entry.attempts, now) if partial else None,
        heartbeat=now if status is DocumentStatus.PENDING else None,
        error=reading.failures[0] if reading.failures else None,
        committed_at=now,
        settled=_first(work.before),
    )


def _with_unit_counts(work: Work, reading: Reading) -> tuple[PassageRef, ...]:
    counts = Counter(unit.passage_id for unit in reading.new_units)
    kept = set(reading.kept_passage_ids)
    before = {ref.id: ref.units for ref in work.before.passages} if work.before else {}
    return tuple(
        ref.model_copy(
            update={
                "units": before.get(ref.id, 0) if ref.id in kept else counts[ref.id],
                "failed": ref.id in reading.failed_passage_ids,
            }
        )
        for ref in reading.refs
    )


def build_records(
    entry: RegistryEntry, reading: Reading, vectors: Mapping[str, list[float]]
) -> Records:
    """Records of everything that was read anew; kept passages are left untouched."""
    kept = frozenset(reading.kept_passage_ids)
    sentences = {sentence.id: sentence for sentence in reading.sentences}
    fresh = [passage for passage in reading.passages if passage.id not in kept]
    addresses = [
        sentence_record(sentences[one], passage, entry, vectors[sentences[one].text])
        for passage in fresh
        for one in passage.sentence_ids
    ]
    addresses += [unit_record(unit, entry, vectors[unit.statement]) for unit in reading.new_units]
    return Records(
        addresses=tuple(addresses),
        passages=tuple(passage_record(passage, entry) for passage in fresh),
        kept_passages=kept,
        current={
            UNITS: frozenset(unit.id for unit in reading.new_units),
            SENTENCES: frozenset(sentences),
            PASSAGES: frozenset(passage.id for passage in reading.passages),
        },
        kept=tuple(passage for passage in reading.passages if passage.id in kept),
        sentences=sentences,
    )


def texts_to_embed(reading: Reading) -> list[str]:
    """Texts whose vectors the commit of ``reading`` needs."""
    kept = set(reading.kept_passage_ids)
    fresh = (passage for passage in reading.passages if passage.id not in kept)
    needed = {one for passage in fresh for one in passage.sentence_ids}
    texts = [sentence.text for sentence in reading.sentences if sentence.id in needed]
    return texts + [unit.statement for unit in reading.new_units]
