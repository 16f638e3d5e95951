"""The UnitStore port on Elasticsearch."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.bulk import Action, Outcome, bulk, rejected, report
from resin_es.adapters.elasticsearch.errors import (
    error_type,
    item_reason,
    not_installed,
    translated,
)
from resin_es.adapters.elasticsearch.installed import refuse_mismatch
from resin_es.adapters.elasticsearch.scan import scan
from resin_es.adapters.elasticsearch.search import Searcher, buckets
from resin_es.errors import StoreConflict
from resin_es.index.aggregations import (
    coverage_body,
    coverage_from,
    kind_counts_body,
    metadata_keys_body,
)
from resin_es.index.names import ADDRESS_FAMILIES, EVIDENCE_FAMILIES, Names
from resin_es.index.records import SENTENCE_KIND, entry_from, entry_record
from resin_es.index.settings import StoreSettings
from resin_es.model import Coverage, Guard, Principal, RegistryEntry, Trace
from resin_es.model.base import content_id
from resin_es.ports import (
    AddressRecord,
    BulkReport,
    FetchedEvidence,
    ModelIdentity,
    RecordRef,
    SearchResponse,
    StoredEntry,
)

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MGET_DOCS = 1_000
TERMS = 10_000
"""Keys in one ``terms`` query, well below the server's 65,536."""

_CONFLICT, _GONE = 409, 404


class ElasticsearchStore:
    """Implements :class:`resin_es.ports.UnitStore`; safe to share between threads.

    Everything goes through aliases, which the server resolves at each call: a swap of
    generations is seen at once. Raises the StoreError family only.
    """

    def __init__(self, client: Elasticsearch, settings: StoreSettings) -> None:
        self.client = client
        self.settings = settings
        self.names = Names(prefix=settings.prefix)
        self._searcher = Searcher(client)

    # -- before any work

    def check(self, model: ModelIdentity) -> None:
        refuse_mismatch(self.client, self.settings, model)

    # -- registry

    def entries(self, keys: Sequence[str]) -> Mapping[str, StoredEntry]:
        alias = self.names.alias("documents")
        found: dict[str, StoredEntry] = {}
        for part in _parts(keys, MGET_DOCS):
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
        failed = [item for item in outcome.items if item["status"] not in (200, 201, _CONFLICT)]
        if failed:
            raise rejected(map(item_reason, failed), doing, len(outcome.items))
        return [None if item["status"] == _CONFLICT else _guard(item) for item in outcome.items]

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

    # -- evidence

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
        done = report(self._bulk(actions, doing, by_alias=False), doing, ignore=frozenset({_GONE}))
        self._refresh(EVIDENCE_FAMILIES)
        return done

    def records(self, keys: Sequence[str]) -> Iterator[RecordRef]:
        for part in _parts(keys, TERMS):
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
        return report(outcome, doing, ignore=frozenset({_CONFLICT, _GONE})).written

    def refresh(self) -> None:
        self._refresh((*EVIDENCE_FAMILIES, "documents"))

    # -- reading

    def search(
        self, addresses: Sequence[Mapping[str, Any]], documents: Mapping[str, Any] | None
    ) -> tuple[Sequence[SearchResponse], SearchResponse | None]:
        searches: list[tuple[Sequence[str], Mapping[str, Any]]] = [
            (self.names.aliases(*ADDRESS_FAMILIES), body) for body in addresses
        ]
        labels = [f"search {number} of {len(addresses)}" for number in range(1, len(addresses) + 1)]
        if documents is not None:
            searches.append((self.names.aliases("documents"), documents))
            labels.append("the search over documents")
        answers = self._searcher.msearch(searches, labels)
        return answers[: len(addresses)], answers[-1] if documents is not None else None

    def fetch(self, passage_ids: Sequence[str], keys: Sequence[str]) -> FetchedEvidence:
        documents = self.names.alias("documents")
        docs = [
            *realtime.wanted(self.names.alias("passages"), dict.fromkeys(passage_ids)),
            *realtime.wanted(documents, dict.fromkeys(keys), {"excludes": ["text"]}),
        ]
        passages: dict[str, Mapping[str, Any]] = {}
        entries: dict[str, RegistryEntry] = {}
        for doc in realtime.mget(self.client, docs, "reading evidence"):
            if self.names.family(doc["_index"]) == "documents":
                entries[doc["_id"]] = entry_from(doc["_source"])
            else:
                passages[doc["_id"]] = doc["_source"]
        return FetchedEvidence(passages=passages, entries=entries)

    def coverage(self, principal: Principal, sources: Sequence[str]) -> Sequence[Coverage]:
        return coverage_from(
            buckets(
                self.client,
                self.names.aliases("documents"),
                lambda after: coverage_body(principal, sources, after),
                "counting documents",
            )
        )

    def metadata_keys(self, principal: Principal, sources: Sequence[str]) -> frozenset[str]:
        found = buckets(
            self.client,
            self.names.aliases("documents"),
            lambda after: metadata_keys_body(principal, sources, after),
            "listing metadata keys",
        )
        return frozenset(bucket["key"]["metadata_keys"] for bucket in found)

    def kind_counts(self, principal: Principal, sources: Sequence[str]) -> Mapping[str, int]:
        found = buckets(
            self.client,
            self.names.aliases(*ADDRESS_FAMILIES),
            lambda after: kind_counts_body(principal, sources, after),
            "counting addresses",
        )
        return {bucket["key"]["kind"]: bucket["doc_count"] for bucket in found}

    # -- traces and cache

    def put_trace(self, trace: Trace) -> None:
        doing = f"storing trace {trace.id}"
        with translated(doing, self.client):
            self.client.index(
                index=self.names.alias("traces"),
                id=trace.id,
                document=trace.model_dump(mode="json"),
                require_alias=True,
            )

    def get_trace(self, trace_id: str) -> Trace | None:
        docs = realtime.wanted(self.names.alias("traces"), [trace_id])
        found = realtime.mget(self.client, docs, f"reading trace {trace_id}")
        return Trace.model_validate(found[0]["_source"]) if found else None

    def cache_get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        by_id = {content_id("cache", key): key for key in keys}
        alias = self.names.alias("cache")
        found: dict[str, bytes] = {}
        for part in _parts(list(by_id), MGET_DOCS):
            docs = realtime.wanted(alias, part, ["value"])
            for doc in realtime.mget(self.client, docs, "reading the cache"):
                found[by_id[doc["_id"]]] = base64.b64decode(doc["_source"]["value"])
        return found

    def cache_put(self, values: Mapping[str, bytes]) -> None:
        doing = "writing the cache"
        now = datetime.now(timezone.utc).isoformat()
        actions = (
            {
                "_op_type": "index",
                "_index": self.names.alias("cache"),
                "_id": content_id("cache", key),
                "_source": {
                    "key": key,
                    "value": base64.b64encode(value).decode("ascii"),
                    "created_at": now,
                },
            }
            for key, value in values.items()
        )
        report(self._bulk(actions, doing), doing)

    # -- inner parts

    def _bulk(self, actions: Iterable[Action], doing: str, *, by_alias: bool = True) -> Outcome:
        outcome = bulk(self.client, actions, self.settings, doing, require_alias=by_alias)
        for item in outcome.items:
            if item["status"] == _GONE and error_type(item) == "index_not_found_exception":
                raise not_installed(item_reason(item))
        return outcome

    def _refresh(self, families: Iterable[str]) -> None:
        with translated("refreshing", self.client):
            self.client.indices.refresh(index=self.names.aliases(*families))

    def _ref(self, hit: Mapping[str, Any]) -> RecordRef:
        fields = hit["fields"]
        return RecordRef(
            document_key=fields["document_key"][0],
            family=self.names.family(hit["_index"]) or "",
            id=hit["_id"],
            passage_id=fields.get("passage_id", [""])[0],
            index=hit["_index"],
            guard=_guard(hit),
        )


def replacing(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` as a partial document that replaces. Elasticsearch merges objects key by key, so
    that a metadata key that went would live on; a list it replaces whole."""
    return {
        name: ([value] if value else None) if isinstance(value, Mapping) else value
        for name, value in fields.items()
    }


def _parts(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    unique = list(dict.fromkeys(items))
    for start in range(0, len(unique), size):
        yield unique[start : start + size]


def _guard(item: Mapping[str, Any]) -> Guard:
    return Guard(seq_no=item["_seq_no"], primary_term=item["_primary_term"])


def _stored(doc: Mapping[str, Any]) -> StoredEntry:
    return StoredEntry(entry=entry_from(doc["_source"]), guard=_guard(doc))


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
