"""Units, sentences and passages: written in bulk, listed, purged, given new rights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import (
    CONFLICT,
    GONE,
    MGET_DOCS,
    StoreBase,
    guard_of,
    parts,
)
from resin_es.adapters.elasticsearch.bulk import report
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.scan import complete, scan
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.index.records import SENTENCE_KIND
from resin_es.model import Guard
from resin_es.ports import AddressRecord, BulkReport, RecordRef

BUCKETS = 1_000
TERMS = 10_000
"""Keys in one ``terms`` query, well below the server's 65,536."""


class EvidencePart(StoreBase):
    """The records that the registry's entries list."""

    def write(
        self, addresses: Sequence[AddressRecord], passages: Sequence[AddressRecord]
    ) -> BulkReport:
        doing = "writing units, sentences and passages"
        families = [
            *(("sentences" if one.kind == SENTENCE_KIND else "units", one) for one in addresses),
            *(("passages", one) for one in passages),
        ]
        actions = (
            {
                "_op_type": "index",
                "_index": self.names.alias(family),
                "_id": record.id,
                "_source": record.body,
            }
            for family, record in families
        )
        return report(self._bulk(actions, doing), doing)

    def update_rights(
        self,
        keys: Sequence[str],
        fields: Mapping[str, Mapping[str, Any]],
        *,
        guards: Mapping[str, Guard] | None = None,
    ) -> BulkReport:
        """Refreshes before (a record written just now has rights too) and after."""
        doing = "rewriting rights"
        self._refresh(EVIDENCE_FAMILIES)
        refs = list(self.records(keys))
        if guards is not None:
            now = self._entry_guards(list(guards))
            refs = [ref for ref in refs if now.get(ref.document_key) == guards[ref.document_key]]
        actions = (
            _update(ref, fields[ref.document_key], guarded=guards is not None) for ref in refs
        )
        ignore = frozenset({GONE} if guards is None else {GONE, CONFLICT})
        done = report(self._bulk(actions, doing, by_alias=False), doing, ignore=ignore)
        self._refresh(EVIDENCE_FAMILIES)
        return done

    def _entry_guards(self, keys: Sequence[str]) -> dict[str, Guard]:
        alias = self.names.alias("documents")
        found: dict[str, Guard] = {}
        for part in parts(keys, MGET_DOCS):
            docs = realtime.wanted(alias, part, source=False)
            for doc in realtime.mget(self.client, docs, "reading registry entries"):
                found[doc["_id"]] = guard_of(doc)
        return found

    def record_counts(self) -> Iterator[tuple[str, int]]:
        after: Mapping[str, Any] | None = None
        doing = "counting the records of documents"
        while True:
            with translated(doing, self.client):
                answer = self.client.search(
                    index=self.names.aliases(*EVIDENCE_FAMILIES),
                    allow_partial_search_results=False,
                    **record_counts_body(after),
                ).body
            complete(answer, doing)
            buckets = answer["aggregations"]["by"]["buckets"]
            for bucket in buckets:
                yield bucket["key"]["document_key"], int(bucket["doc_count"])
            after = answer["aggregations"]["by"].get("after_key")
            if after is None or not buckets:
                return

    def records(self, keys: Sequence[str]) -> Iterator[RecordRef]:
        for part in parts(keys, TERMS):
            for hit in scan(
                self.client,
                self.names.aliases(*EVIDENCE_FAMILIES),
                {"terms": {"document_key": list(part)}},
                self.settings,
                fields={"_source": False, "docvalue_fields": ["document_key", "passage_id"]},
                doing="listing the records of documents",
            ):
                yield self._ref(hit)

    def purge(self, stale: Iterable[RecordRef]) -> int:
        doing = "purging stale records"
        actions = (
            {
                "_op_type": "delete",
                "_index": ref.index,
                "_id": ref.id,
                "if_seq_no": ref.guard.seq_no,
                "if_primary_term": ref.guard.primary_term,
            }
            for ref in stale
        )
        outcome = self._bulk(actions, doing, by_alias=False)
        # A conflict is a record that was rewritten, or deleted by somebody else: both are right.
        return report(outcome, doing, ignore=frozenset({CONFLICT, GONE})).written

    def refresh(self) -> None:
        self._refresh((*EVIDENCE_FAMILIES, "documents"))

    def _ref(self, hit: Mapping[str, Any]) -> RecordRef:
        fields = hit["fields"]
        return RecordRef(
            document_key=fields["document_key"][0],
            family=self.names.family(hit["_index"]) or "",
            id=hit["_id"],
            passage_id=fields.get("passage_id", [""])[0],
            index=hit["_index"],
            guard=guard_of(hit),
        )


def record_counts_body(after: Mapping[str, Any] | None) -> dict[str, Any]:
    """One page of records by document. Pure."""
    composite: dict[str, Any] = {
        "size": BUCKETS,
        "sources": [{"document_key": {"terms": {"field": "document_key"}}}],
    }
    if after is not None:
        composite["after"] = dict(after)
    return {"size": 0, "track_total_hits": False, "aggs": {"by": {"composite": composite}}}


def _update(ref: RecordRef, fields: Mapping[str, Any], *, guarded: bool) -> dict[str, Any]:
    held = {"if_seq_no": ref.guard.seq_no, "if_primary_term": ref.guard.primary_term}
    return {
        "_op_type": "update",
        "_index": ref.index,
        "_id": ref.id,
        **(held if guarded else {"retry_on_conflict": 3}),
        "doc": replacing(fields),
    }


def replacing(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` as a partial document that replaces. Elasticsearch merges objects key by key, so
    that a metadata key that went would live on; a list it replaces whole."""
    return {
        name: ([value] if value else None) if isinstance(value, Mapping) else value
        for name, value in fields.items()
    }
