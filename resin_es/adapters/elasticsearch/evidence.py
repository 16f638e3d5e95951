"""Units, sentences and passages: written in bulk, listed, purged, given new rights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from resin_es.adapters.elasticsearch.base import CONFLICT, GONE, StoreBase, guard_of, parts
from resin_es.adapters.elasticsearch.bulk import report
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.index.records import SENTENCE_KIND
from resin_es.ports import AddressRecord, BulkReport, RecordRef

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
        self, keys: Sequence[str], fields: Mapping[str, Mapping[str, Any]]
    ) -> BulkReport:
        """Refreshes before (a record written just now has rights too) and after."""
        doing = "rewriting rights"
        self._refresh(EVIDENCE_FAMILIES)
        actions = (
            {
                "_op_type": "update",
                "_index": ref.index,
                "_id": ref.id,
                "retry_on_conflict": 3,
                "doc": replacing(fields[ref.document_key]),
            }
            for ref in self.records(keys)
        )
        done = report(self._bulk(actions, doing, by_alias=False), doing, ignore=frozenset({GONE}))
        self._refresh(EVIDENCE_FAMILIES)
        return done

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


def replacing(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` as a partial document that replaces. Elasticsearch merges objects key by key, so
    that a metadata key that went would live on; a list it replaces whole."""
    return {
        name: ([value] if value else None) if isinstance(value, Mapping) else value
        for name, value in fields.items()
    }
