"""Searches, fenced fetches and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch import realtime
from resin_es.adapters.elasticsearch.generations import GenerationsPart
from resin_es.adapters.elasticsearch.search import Searcher, buckets
from resin_es.errors import StoreError
from resin_es.index.aggregations import (
    coverage_body,
    coverage_from,
    kind_counts_body,
    metadata_keys_body,
)
from resin_es.index.embedders import EmbedderBook
from resin_es.index.names import ADDRESS_FAMILIES
from resin_es.index.packed import packed_search, packs
from resin_es.index.records import entry_from
from resin_es.index.settings import StoreSettings
from resin_es.model import Coverage, Principal, RegistryEntry
from resin_es.ports import FetchedEvidence, SearchResponse

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch


class ReadingPart(GenerationsPart):
    """What questions need."""

    def __init__(
        self,
        client: Elasticsearch,
        settings: StoreSettings,
        embedders: EmbedderBook | None = None,
    ) -> None:
        super().__init__(client, settings, embedders)
        self._searcher = Searcher(client)

    def search(
        self, addresses: Sequence[Mapping[str, Any]], documents: Mapping[str, Any] | None
    ) -> tuple[Sequence[SearchResponse], SearchResponse | None]:
        if self._held is not None and packs(self._held.meta):
            found = self._search([packed_search(body) for body in addresses], documents)
            if all(hit.id for one in found[0] for hit in one.hits):
                return found
            # Somebody with an older version wrote a record: it has nothing packed.
        return self._search(addresses, documents)

    def _search(
        self, addresses: Sequence[Mapping[str, Any]], documents: Mapping[str, Any] | None
    ) -> tuple[Sequence[SearchResponse], SearchResponse | None]:
        searches: list[tuple[Sequence[str], Mapping[str, Any]]] = [
            (self._searched(), body) for body in addresses
        ]
        labels = [f"search {number} of {len(addresses)}" for number in range(1, len(addresses) + 1)]
        if documents is not None:
            searches.append((self.names.aliases("documents"), documents))
            labels.append("the search over documents")
        try:
            answers = self._searcher.msearch(searches, labels)
        except StoreError as error:
            self._raise_gone(error)
            raise
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
