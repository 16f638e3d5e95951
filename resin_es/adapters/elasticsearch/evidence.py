"""Units, sentences and passages: listed, counted, given new rights."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.base import CONFLICT, GONE, MGET_DOCS, guard_of, parts
from resin_es.adapters.elasticsearch.bulk import Outcome, report
from resin_es.adapters.elasticsearch.errors import translated
from resin_es.adapters.elasticsearch.generations import ROUNDS, GenerationsPart, unsteady
from resin_es.adapters.elasticsearch.scan import complete, scan
from resin_es.index.generations import Generations
from resin_es.index.names import EVIDENCE_FAMILIES
from resin_es.model import Guard
from resin_es.ports import BulkReport, RecordRef

BUCKETS = 1_000
TERMS = 10_000
"""Keys in one ``terms`` query, well below the server's 65,536."""


class EvidencePart(GenerationsPart):
    """The records that the registry's entries list."""

    def update_rights(
        self,
        keys: Sequence[str],
        fields: Mapping[str, Mapping[str, Any]],
        *,
        guards: Mapping[str, Guard] | None = None,
    ) -> BulkReport:
        """In every active generation. Refreshes before (a record written just now has rights too)
        and after."""
        for _ in range(ROUNDS):
            names, done = self._steady(lambda now: self._rights(now, keys, fields, guards))
            if set(self.generations().names) <= set(names):
                return done
        raise unsteady()

    def _rights(
        self,
        now: Generations,
        keys: Sequence[str],
        fields: Mapping[str, Mapping[str, Any]],
        guards: Mapping[str, Guard] | None,
    ) -> tuple[tuple[str, ...], BulkReport]:
        doing = "rewriting rights"
        self._refresh(EVIDENCE_FAMILIES)
        to = now.addresses()
        refs = [ref for ref in self.records(keys) if ref.index in to]
        if guards is not None:
            held = self._entry_guards(list(guards))
            refs = [ref for ref in refs if held.get(ref.document_key) == guards[ref.document_key]]
        outcomes = []
        for building in (False, True):  # apart, so that the report counts what answers
            part = [ref for ref in refs if ref.building is building]
            actions = (
                _update(ref, to[ref.index], fields[ref.document_key], guarded=guards is not None)
                for ref in part
            )
            outcomes.append(self._bulk(actions, doing) if part else Outcome())
        ignore = frozenset({GONE} if guards is None else {GONE, CONFLICT})
        done, _ = (report(outcome, doing, ignore=ignore) for outcome in outcomes)
        self._refresh(EVIDENCE_FAMILIES)
        return now.names, done

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
            yield from self._steady(partial(self._listed, part))

    def _listed(self, keys: Sequence[str], now: Generations) -> list[RecordRef]:
        building = set(now.next.indices.values()) if now.next else set()
        hits = scan(
            self.client,
            list(now.addresses()),
            {"terms": {"document_key": list(keys)}},
            self.settings,
            fields={"_source": False, "docvalue_fields": ["document_key", "passage_id"]},
            doing="listing the records of documents",
        )
        return [self._ref(hit, building) for hit in hits]

    def refresh(self) -> None:
        self._refresh((*EVIDENCE_FAMILIES, "documents"))

    def _ref(self, hit: Mapping[str, Any], building: Collection[str]) -> RecordRef:
        fields = hit["fields"]
        return RecordRef(
            document_key=fields["document_key"][0],
            family=self.names.family(hit["_index"]) or "",
            id=hit["_id"],
            passage_id=fields.get("passage_id", [""])[0],
            index=hit["_index"],
            guard=guard_of(hit),
            building=hit["_index"] in building,
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


def _update(
    ref: RecordRef, address: str, fields: Mapping[str, Any], *, guarded: bool
) -> dict[str, Any]:
    held = {"if_seq_no": ref.guard.seq_no, "if_primary_term": ref.guard.primary_term}
    return {
        "_op_type": "update",
        "_index": address,
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
