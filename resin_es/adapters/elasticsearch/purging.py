"""Guarded deletes of stale records, in every generation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import (
    CONFLICT,
    FORBIDDEN,
    GONE,
    MGET_DOCS,
    StoreBase,
    guard_of,
    parts,
)
from resin_es.adapters.elasticsearch.bulk import bulk, report
from resin_es.adapters.elasticsearch.errors import item_reason, refused
from resin_es.adapters.elasticsearch.generations import GenerationsPart
from resin_es.index.generations import Generations
from resin_es.index.rebuilding import listed
from resin_es.index.records import entry_from
from resin_es.model import Guard, RegistryEntry
from resin_es.ports import RecordRef

DOING = "purging stale records"


def delete_guarded(store: StoreBase, rows: Iterable[tuple[str, str, Guard]]) -> list[bool]:
    """Delete records by (index, id, guard); whether each went. A conflict is a record that was
    rewritten, or deleted by somebody else; a missing index was dropped: all of that is right.
    Raises StoreError."""
    actions = [
        {
            "_op_type": "delete",
            "_index": index,
            "_id": record_id,
            "if_seq_no": guard.seq_no,
            "if_primary_term": guard.primary_term,
        }
        for index, record_id, guard in rows
    ]
    outcome = bulk(store.client, actions, store.settings, DOING)
    for item in outcome.items:
        if item["status"] == FORBIDDEN:
            raise refused(DOING, item_reason(item))
    report(outcome, DOING, ignore=frozenset({CONFLICT, GONE}))
    return [200 <= int(item["status"]) < 300 for item in outcome.items]


def entries_of(store: StoreBase, keys: Iterable[str]) -> dict[str, RegistryEntry]:
    """Registry entries by key, realtime, without their texts. Raises StoreError."""
    alias = store.names.alias("documents")
    found: dict[str, RegistryEntry] = {}
    for part in parts(list(keys), MGET_DOCS):
        docs = realtime.wanted(alias, part, {"excludes": ["text"]})
        for doc in realtime.mget(store.client, docs, "reading registry entries"):
            found[doc["_id"]] = entry_from(doc["_source"])
    return found


class PurgingPart(GenerationsPart):
    """Implements ``UnitStore.purge``."""

    def purge(self, stale: Iterable[RecordRef]) -> int:
        """Counts what went of the generation that answers. Looks again after it: a generation
        that the listing of ``stale`` did not see yet is purged of the same records."""
        refs = list(stale)
        if not refs:
            return 0
        gone = delete_guarded(self, [(ref.index, ref.id, ref.guard) for ref in refs])
        now = self.generations()
        if now.next is not None or {ref.index for ref in refs} - set(now.addresses()):
            self._purge_elsewhere(now, refs, gone)
        return sum(went for ref, went in zip(refs, gone, strict=True) if not ref.building)

    def _purge_elsewhere(
        self, now: Generations, refs: Sequence[RecordRef], gone: Sequence[bool]
    ) -> None:
        """Records that were deleted, or whose index was dropped since they were listed, in active
        generations without a reference among ``refs``; unless the registry lists them by now."""
        held, active = {(ref.index, ref.id) for ref in refs}, now.addresses()
        open_refs = {
            at: ref
            for ref, went in zip(refs, gone, strict=True)
            if went or ref.index not in active
            for one in now.active
            if (at := (one.indices[ref.family], ref.id)) not in held
        }
        if not open_refs:
            return
        entries = entries_of(self, {ref.document_key for ref in open_refs.values()})
        found: list[tuple[str, str, Guard]] = []
        for part in parts(list(open_refs), MGET_DOCS):
            docs = [{"_index": index, "_id": name, "_source": False} for index, name in part]
            for doc in realtime.mget(self.client, docs, "looking for stale records"):
                ref = open_refs[doc["_index"], doc["_id"]]
                entry = entries.get(ref.document_key)
                if not listed(entry, ref.family, ref.id, ref.passage_id):
                    found.append((doc["_index"], doc["_id"], guard_of(doc)))
        delete_guarded(self, found)
