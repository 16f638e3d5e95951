"""The writing half of a store in memory, with Elasticsearch's guards, and the listings on it.

Searches and listings see what was written as of the last ``refresh``; reads by id are realtime.
``before`` runs before each call, with its name, and may raise or change the world: how tests
kill a process between two steps, take the store away, or let another worker in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from resin_es.errors import StoreConflict
from resin_es.index.records import SENTENCE_KIND, entry_from, entry_record
from resin_es.model import DocumentStatus, Guard, RegistryEntry
from resin_es.model.source import Source
from resin_es.ports import AddressRecord, BulkReport, ModelIdentity, RecordRef, StoredEntry
from resin_es.ports.sync import EntryBrief, StoredSource


class Kept(NamedTuple):
    """A record with the number of its last write."""

    body: Mapping[str, Any]
    seq_no: int

    @property
    def guard(self) -> Guard:
        return Guard(seq_no=self.seq_no, primary_term=1)


class MemoryStore:
    """Implements what writing and background work use of ``ports.UnitStore``."""

    def __init__(self) -> None:
        self.registry: dict[str, Kept] = {}
        self.held: dict[tuple[str, str], Kept] = {}
        """Units, sentences and passages by family and id."""
        self._visible: tuple[dict[str, Kept], dict[tuple[str, str], Kept]] = ({}, {})
        self.cache: dict[str, bytes] = {}
        self.calls: Counter[str] = Counter()
        self.before: Callable[[str], None] = lambda name: None
        self._writes = 0

    # -- for tests

    def entry(self, key: str) -> RegistryEntry:
        return entry_from(self.registry[key].body)

    def records_of(self, family: str) -> dict[str, Mapping[str, Any]]:
        return {one: kept.body for (of, one), kept in self.held.items() if of == family}

    # -- the port

    def check(self, model: ModelIdentity) -> None:
        self._called("check")

    def entries(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        self._called("entries")
        return {key: _stored(self.registry[key]) for key in keys if key in self.registry}

    def put_entry(self, entry: RegistryEntry, guard: Guard | None) -> Guard:
        (new,) = self.put_entries([(entry, guard)])
        if new is None:
            raise StoreConflict(f"document {entry.external_id!r} was changed meanwhile.")
        return new

    def put_entries(
        self, entries: Sequence[tuple[RegistryEntry, Guard | None]]
    ) -> list[Guard | None]:
        self._called("put_entries")
        return [self._put(entry, guard) for entry, guard in entries]

    def _put(self, entry: RegistryEntry, guard: Guard | None) -> Guard | None:
        known = self.registry.get(entry.key)
        if (known.guard if known else None) != guard:
            return None
        self.registry[entry.key] = kept = self._kept(entry_record(entry))
        return kept.guard

    def scan_entries(self, source: str) -> Iterator[StoredEntry]:
        self._called("scan_entries")
        for kept in list(self._visible[0].values()):
            if kept.body["source"] == source:
                yield _stored(kept)

    def write(
        self, addresses: Sequence[AddressRecord], passages: Sequence[AddressRecord]
    ) -> BulkReport:
        self._called("write")
        for one in addresses:
            family = "sentences" if one.kind == SENTENCE_KIND else "units"
            self.held[family, one.id] = self._kept(one.body)
        for one in passages:
            self.held["passages", one.id] = self._kept(one.body)
        return BulkReport(written=len(addresses) + len(passages))

    def update_rights(
        self,
        keys: Sequence[str],
        fields: Mapping[str, Mapping[str, Any]],
        *,
        guards: Mapping[str, Guard] | None = None,
    ) -> BulkReport:
        self._called("update_rights")
        self.refresh()
        refs = list(self.records(keys))
        if guards is not None:
            now = {key: one.guard for key, one in self.entries(list(guards)).items()}
            refs = [r for r in refs if now.get(r.document_key) == guards[r.document_key]]
        self._called("update_rights:listed")
        written = 0
        for ref in refs:
            kept = self.held.get((ref.family, ref.id))
            if kept is not None and (guards is None or kept.guard == ref.guard):
                self.held[ref.family, ref.id] = self._kept(
                    {**kept.body, **fields[ref.document_key]}
                )
                written += 1
        self.refresh()
        return BulkReport(written=written)

    def records(self, keys: Sequence[str]) -> Iterator[RecordRef]:
        self._called("records")
        for (family, one), kept in list(self._visible[1].items()):
            if kept.body["document_key"] in keys:
                yield RecordRef(
                    document_key=kept.body["document_key"],
                    family=family,
                    id=one,
                    passage_id=kept.body.get("passage_id", ""),
                    index=family,
                    guard=kept.guard,
                )

    def record_counts(self) -> Iterator[tuple[str, int]]:
        self._called("record_counts")
        counted = Counter(kept.body["document_key"] for kept in self._visible[1].values())
        yield from sorted(counted.items())

    def purge(self, stale: Iterable[RecordRef]) -> int:
        refs = list(stale)
        self._called("purge")
        purged = 0
        for ref in refs:
            kept = self.held.get((ref.family, ref.id))
            if kept is not None and kept.guard == ref.guard:
                del self.held[ref.family, ref.id]
                purged += 1
        return purged

    def refresh(self) -> None:
        self._called("refresh")
        self._visible = (dict(self.registry), dict(self.held))

    def cache_get(self, keys: Sequence[str]) -> dict[str, bytes]:
        self._called("cache_get")
        return {key: self.cache[key] for key in keys if key in self.cache}

    def cache_put(self, values: Mapping[str, bytes]) -> None:
        self._called("cache_put")
        self.cache.update(values)

    # -- ports.sync.EntryListing

    def briefs(
        self,
        source: str | None = None,
        statuses: Sequence[DocumentStatus] = (),
        *,
        unsettled: bool = False,
    ) -> Iterator[EntryBrief]:
        self._called("briefs")
        for kept in list(self._visible[0].values()):
            entry = entry_from(kept.body)
            if source is not None and entry.source != source:
                continue
            if not statuses or entry.status in statuses or (unsettled and not entry.settled):
                yield _brief(entry)

    def _called(self, name: str) -> None:
        self.before(name)
        self.calls[name] += 1

    def _kept(self, body: Mapping[str, Any]) -> Kept:
        self._writes += 1
        return Kept(body, self._writes)


def _stored(kept: Kept) -> StoredEntry:
    return StoredEntry(entry=entry_from(kept.body), guard=kept.guard)


def _brief(entry: RegistryEntry) -> EntryBrief:
    return EntryBrief(
        key=entry.key,
        external_id=entry.external_id,
        source=entry.source,
        status=entry.status,
        attempts=entry.attempts,
        not_before=entry.not_before,
        lease=entry.lease,
        heartbeat=entry.heartbeat,
        updated_at=entry.updated_at,
        settled=entry.settled,
        committed=bool(entry.committed_version),
        outdated=entry.committed_version not in ("", entry.version),
    )


class MemoryBook:
    """Implements ``ports.sync.SourceBook``."""

    def __init__(self, *sources: Source) -> None:
        self._kept: dict[str, StoredSource] = {}
        self._writes = 0
        for source in sources:
            self.put_source(source, None)

    def source(self, name: str) -> StoredSource | None:
        return self._kept.get(name)

    def sources(self) -> list[StoredSource]:
        return [self._kept[name] for name in sorted(self._kept)]

    def put_source(self, source: Source, guard: Guard | None) -> Guard:
        name = source.spec.name
        known = self._kept.get(name)
        if (known.guard if known else None) != guard:
            raise StoreConflict(f"source {name!r} was changed meanwhile.")
        self._writes += 1
        new = Guard(seq_no=self._writes, primary_term=1)
        self._kept[name] = StoredSource(source=source, guard=new)
        return new

    def remove_source(self, name: str) -> None:
        self._kept.pop(name, None)

    def change(self, name: str, **state: Any) -> None:
        """Change a source's state, as somebody else would."""
        held = self._kept[name]
        changed = held.source.state.model_copy(update=state)
        self.put_source(held.source.model_copy(update={"state": changed}), held.guard)
