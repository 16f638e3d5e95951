"""After a flip: what is stale goes, what was kept is put right, what a loser wrote is taken back.

Every deletion is judged in this order: list the records, then look at the registry, then delete
under the records' guards. Whoever takes a document over after the look writes its records anew,
so that their guards have changed and they survive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from resin_es.index.records import (
    PASSAGES,
    SENTENCES,
    UNITS,
    carried_fields,
    sentence_record,
)
from resin_es.index.work import Records, Work
from resin_es.model import DocumentStatus, Guard, RegistryEntry
from resin_es.ports import AddressRecord, RecordRef, UnitStore

Embed = Callable[[Sequence[str]], Mapping[str, list[float]]]


@dataclass(frozen=True)
class Flipped:
    """A document that won its flip: its entry and guard since then, and its records."""

    work: Work
    entry: RegistryEntry
    guard: Guard
    records: Records


def settle(store: UnitStore, flipped: Sequence[Flipped], embed: Embed) -> int:
    """Bring the records of documents with a history in line with their flipped entries; returns
    how many records went.

    Kept passages, their sentences and units were not rewritten: they get the new title and
    rights only now, since before the flip a widened right would have opened the old text.
    """
    if not flipped:
        return 0
    guards = {one.entry.key: one.guard for one in flipped}
    fields = {
        one.entry.key: carried_fields(one.entry) for one in flipped if _carries_old_fields(one)
    }
    if fields:
        store.update_rights(list(fields), fields, guards=guards)
    purged = _purge_stale(store, {one.entry.key: one for one in flipped}, embed)
    store.put_entries(
        [(one.entry.model_copy(update={"settled": True}), one.guard) for one in flipped]
    )
    return purged


def _carries_old_fields(one: Flipped) -> bool:
    before = one.work.before
    if before is None or not one.records.kept_passages:
        return False
    return not (before.settled and carried_fields(before) == carried_fields(one.entry))


def _purge_stale(store: UnitStore, flipped: Mapping[str, Flipped], embed: Embed) -> int:
    """Delete what earlier versions and broken runs left; write again what is not there, and
    sentences of kept passages that a broken run left pointing elsewhere."""
    refs: dict[str, list[RecordRef]] = {key: [] for key in flipped}
    for ref in store.records(list(flipped)):
        refs[ref.document_key].append(ref)
    still = unchanged(store, {key: one.guard for key, one in flipped.items()})
    purged = store.purge(
        ref for key in still for ref in refs[key] if flipped[key].records.stale(ref)
    )
    addresses: list[AddressRecord] = []
    passages: list[AddressRecord] = []
    for key in still:
        present = {(ref.family, ref.id) for ref in refs[key] if not ref.building}
        records = flipped[key].records
        addresses += [a for a in records.addresses if (_family(a), a.id) not in present]
        addresses += _astray(flipped[key], refs[key], embed)
        passages += [p for p in records.passages if (PASSAGES, p.id) not in present]
    if addresses or passages:
        store.write(addresses, passages)
    return purged


def _astray(one: Flipped, refs: Sequence[RecordRef], embed: Embed) -> list[AddressRecord]:
    """Sentences of kept passages that are missing or name another passage, as they should be."""
    found = {ref.id: ref.passage_id for ref in refs if ref.family == SENTENCES and not ref.building}
    wrong = [
        (sentence, passage)
        for passage in one.records.kept
        for sentence in passage.sentence_ids
        if found.get(sentence) != passage.id
    ]
    if not wrong:
        return []
    texts = {sentence: one.records.sentences[sentence] for sentence, _ in wrong}
    vectors = embed([sentence.text for sentence in texts.values()])
    return [
        sentence_record(texts[sentence], passage, one.entry, vectors[texts[sentence].text])
        for sentence, passage in wrong
    ]


def unchanged(store: UnitStore, guards: Mapping[str, Guard]) -> set[str]:
    """Keys whose entry still carries the guard given."""
    return {
        key for key, stored in store.entries(list(guards)).items() if stored.guard == guards[key]
    }


def take_back(store: UnitStore, lost: Mapping[str, Records]) -> int:
    """The loser of a flip takes its own writes back, unless the registry lists them now or
    another owner is at work on the document (who will purge what does not belong).

    What it wrote over the winner's records of the same ids may carry its own passage and
    rights, so the document is marked as unsettled: the next one to work on it puts that right.
    """
    if not lost:
        return 0
    refs = [ref for ref in store.records(list(lost)) if _written_by(lost[ref.document_key], ref)]
    entries = store.entries(list(lost))
    store.put_entries(
        [
            (stored.entry.model_copy(update={"settled": False}), stored.guard)
            for stored in entries.values()
            if stored.entry.settled and stored.entry.status is not DocumentStatus.DELETED
        ]
    )
    mine: list[RecordRef] = []
    for ref in refs:
        held = entries.get(ref.document_key)
        if held is not None and held.entry.status is DocumentStatus.WORKING:
            continue
        if held is None or not listed(held.entry, ref):
            mine.append(ref)
    return store.purge(mine)


def _written_by(records: Records, ref: RecordRef) -> bool:
    if ref.family == PASSAGES:
        return any(passage.id == ref.id for passage in records.passages)
    return any(address.id == ref.id for address in records.addresses)


def listed(entry: RegistryEntry, ref: RecordRef) -> bool:
    """Whether the registry has a place for a record."""
    if ref.family == SENTENCES:
        return any(ref.id in passage.sentence_ids for passage in entry.passages)
    wanted = ref.id if ref.family == PASSAGES else ref.passage_id
    return any(passage.id == wanted for passage in entry.passages)


def _family(address: AddressRecord) -> str:
    return SENTENCES if address.kind == "sentence" else UNITS
