"""The registry: guarded writes, realtime reads, complete listings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import CONFLICT, MGET_DOCS, StoreBase, guard_of, parts
from resin_es.adapters.elasticsearch.bulk import Action, rejected
from resin_es.adapters.elasticsearch.errors import item_reason
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.errors import StoreConflict
from resin_es.index.records import entry_from, entry_record
from resin_es.model import Guard, RegistryEntry
from resin_es.ports import StoredEntry


class RegistryPart(StoreBase):
    """One entry per document in the ``documents`` family."""

    def entries(self, keys: Sequence[str]) -> Mapping[str, StoredEntry]:
        alias = self.names.alias("documents")
        found: dict[str, StoredEntry] = {}
        for part in parts(keys, MGET_DOCS):
            docs = realtime.wanted(alias, part)
            for doc in realtime.mget(self.client, docs, "reading registry entries"):
                found[doc["_id"]] = _stored(doc)
        return found

    def put_entry(self, entry: RegistryEntry, guard: Guard | None) -> Guard:
        (new,) = self.put_entries([(entry, guard)])
        if new is None:
            raise StoreConflict(
                f"document {entry.external_id!r} of source {entry.source!r} was changed by "
                "somebody else meanwhile.",
                hint="Run it again.",
            )
        return new

    def put_entries(
        self, entries: Sequence[tuple[RegistryEntry, Guard | None]]
    ) -> Sequence[Guard | None]:
        doing = "writing registry entries"
        alias = self.names.alias("documents")
        outcome = self._bulk((_entry_action(alias, one, guard) for one, guard in entries), doing)
        failed = [item for item in outcome.items if item["status"] not in (200, 201, CONFLICT)]
        if failed:
            raise rejected(map(item_reason, failed), doing, len(outcome.items))
        return [None if item["status"] == CONFLICT else guard_of(item) for item in outcome.items]

    def scan_entries(self, source: str) -> Iterator[StoredEntry]:
        hits = scan(
            self.client,
            self.names.aliases("documents"),
            {"term": {"source": source}},
            self.settings,
            fields={"_source": {"excludes": ["text"]}},
            doing=f"listing the documents of source {source!r}",
        )
        return map(_stored, hits)


def _stored(doc: Mapping[str, Any]) -> StoredEntry:
    return StoredEntry(entry=entry_from(doc["_source"]), guard=guard_of(doc))


def _entry_action(alias: str, entry: RegistryEntry, guard: Guard | None) -> Action:
    action: dict[str, Any] = {
        "_index": alias,
        "_id": entry.key,
        "_op_type": "create" if guard is None else "index",
        "_source": entry_record(entry),
    }
    if guard is not None:
        action |= {"if_seq_no": guard.seq_no, "if_primary_term": guard.primary_term}
    return action
