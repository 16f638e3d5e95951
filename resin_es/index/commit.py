"""Commit of a batch of read documents, and the purge of what it made stale.

Order matters: write, refresh, flip, rights, purge. Searches see new addresses before the
registry lists them (the fence holds them back) and old ones until they are purged (the fence
holds those back from the flip on), so no reader ever finds a gap or a mixture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from resin_es.extract.read import Reading
from resin_es.index.records import (
    PASSAGES,
    SENTENCES,
    UNITS,
    carried_fields,
    passage_record,
    sentence_record,
    unit_record,
)
from resin_es.index.report import IndexReport
from resin_es.index.vectors import embed_cached
from resin_es.model import (
    Counts,
    Document,
    DocumentStatus,
    Guard,
    PassageRef,
    RegistryEntry,
)
from resin_es.ports import AddressRecord, Embedder, RecordRef, UnitStore


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

    def stale(self, ref: RecordRef) -> bool:
        """Whether a stored record of this document has no place in the new version. Units of a
        kept passage are current although nothing wrote them this time."""
        if ref.id in self.current[ref.family]:
            return False
        return not (ref.family == UNITS and ref.passage_id in self.kept_passages)


def committed_entry(work: Work, reading: Reading, *, pipeline: str, now: datetime) -> RegistryEntry:
    """The entry after the flip."""
    if not reading.sentences:
        status = DocumentStatus.EMPTY
    elif reading.failures:
        status = DocumentStatus.PARTIAL
    else:
        status = DocumentStatus.INDEXED
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
        attempts=work.entry.attempts,
        error=reading.failures[0] if reading.failures else None,
        committed_at=now,
        settled=work.before is None,
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
    )


def texts_to_embed(reading: Reading) -> list[str]:
    """Texts whose vectors the commit of ``reading`` needs."""
    kept = set(reading.kept_passage_ids)
    fresh = (passage for passage in reading.passages if passage.id not in kept)
    needed = {one for passage in fresh for one in passage.sentence_ids}
    texts = [sentence.text for sentence in reading.sentences if sentence.id in needed]
    return texts + [unit.statement for unit in reading.new_units]


def commit(
    store: UnitStore,
    embedder: Embedder,
    items: Sequence[tuple[Work, Reading]],
    *,
    pipeline: str,
    now: datetime,
    cache: bool,
    report: IndexReport,
) -> list[tuple[Work, Reading]]:
    """Commit the batch; returns the items that won their flip. Raises StoreError, ModelError."""
    vectors = _vectors(store, embedder, [reading for _, reading in items], cache, report)
    entries = [
        committed_entry(work, reading, pipeline=pipeline, now=now) for work, reading in items
    ]
    records = [
        build_records(entry, reading, vectors)
        for entry, (_, reading) in zip(entries, items, strict=True)
    ]
    store.write(
        [address for one in records for address in one.addresses],
        [passage for one in records for passage in one.passages],
    )
    store.refresh()
    guards = store.put_entries(
        [(entry, work.guard) for entry, (work, _) in zip(entries, items, strict=True)]
    )
    won = [index for index, guard in enumerate(guards) if guard is not None]
    lost = [index for index, guard in enumerate(guards) if guard is None]
    report.purged += _settle(
        store,
        [
            (items[i][0], entries[i], guard, records[i])
            for i in won
            if (guard := guards[i]) is not None and not entries[i].settled
        ],
    )
    for index in lost:
        report.busy += 1
        report.failures.append(
            (items[index][0].document.external_id, "it changed while it was read; run again")
        )
    report.purged += _purge_lost(store, {entries[i].key: records[i] for i in lost})
    return [items[i] for i in won]


def _vectors(
    store: UnitStore,
    embedder: Embedder,
    readings: Sequence[Reading],
    cache: bool,
    report: IndexReport,
) -> dict[str, list[float]]:
    texts = list(dict.fromkeys(text for reading in readings for text in texts_to_embed(reading)))
    if not texts:
        return {}
    cached = 0

    def get(keys: Sequence[str]) -> Mapping[str, bytes]:
        nonlocal cached
        found = store.cache_get(keys) if cache else {}
        cached += len(found)
        return found

    def put(values: Mapping[str, bytes]) -> None:
        if cache:
            store.cache_put(values)

    vectors = embed_cached(texts, embedder, get, put)
    report.embedded += len(texts) - cached
    report.embedded_from_cache += cached
    return {text: row.tolist() for text, row in zip(texts, vectors, strict=True)}


def _settle(store: UnitStore, won: Sequence[tuple[Work, RegistryEntry, Guard, Records]]) -> int:
    """Bring the records of documents with a history in line with their flipped entries.

    Kept passages, their sentences and units were not rewritten: they get the new title and
    rights only now, since before the flip a widened right would have opened the old text.
    """
    fields = {
        entry.key: carried_fields(entry)
        for work, entry, _, records in won
        if records.kept_passages
        and work.before is not None
        and not (work.before.settled and carried_fields(work.before) == carried_fields(entry))
    }
    if fields:
        store.update_rights(list(fields), fields)
    purged = _purge_stale(store, {entry.key: records for _, entry, _, records in won})
    store.put_entries(
        [(entry.model_copy(update={"settled": True}), guard) for _, entry, guard, _ in won]
    )
    return purged


def _purge_stale(store: UnitStore, records: Mapping[str, Records]) -> int:
    """Delete what earlier versions and broken runs left, and write again what a loser's purge
    may have taken from this version meanwhile."""
    if not records:
        return 0
    stale: list[RecordRef] = []
    present: dict[str, set[tuple[str, str]]] = {key: set() for key in records}
    for ref in store.records(list(records)):
        present[ref.document_key].add((ref.family, ref.id))
        if records[ref.document_key].stale(ref):
            stale.append(ref)
    purged = store.purge(stale)
    again_addresses: list[AddressRecord] = []
    again_passages: list[AddressRecord] = []
    for key, one in records.items():
        again_addresses += [
            address
            for address in one.addresses
            if (_family(address), address.id) not in present[key]
        ]
        again_passages += [p for p in one.passages if (PASSAGES, p.id) not in present[key]]
    if again_addresses or again_passages:
        store.write(again_addresses, again_passages)
    return purged


def _purge_lost(store: UnitStore, records: Mapping[str, Records]) -> int:
    """The loser of a flip takes its own writes back, unless the registry lists them now or
    another owner is at work on the document (who will purge what does not belong)."""
    if not records:
        return 0
    entries = store.entries(list(records))
    mine: list[RecordRef] = []
    for ref in store.records(list(records)):
        stored = entries.get(ref.document_key)
        if stored is not None and stored.entry.status is DocumentStatus.WORKING:
            continue
        if _written_by(records[ref.document_key], ref) and not _listed(
            stored.entry if stored else None, ref
        ):
            mine.append(ref)
    return store.purge(mine)


def _written_by(records: Records, ref: RecordRef) -> bool:
    if ref.family == PASSAGES:
        return any(passage.id == ref.id for passage in records.passages)
    return any(address.id == ref.id for address in records.addresses)


def _listed(entry: RegistryEntry | None, ref: RecordRef) -> bool:
    if entry is None:
        return False
    if ref.family == SENTENCES:
        return any(ref.id in passage.sentence_ids for passage in entry.passages)
    wanted = ref.id if ref.family == PASSAGES else ref.passage_id
    return any(passage.id == wanted for passage in entry.passages)


def _family(address: AddressRecord) -> str:
    return SENTENCES if address.kind == "sentence" else UNITS
