"""A team's own indices, read only: what they are, and one source read from one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from resin_es.adapters.elasticsearch.foreign_pages import (
    MissingIndex,
    complete,
    missing,
    reading,
)
from resin_es.adapters.elasticsearch.foreign_reader import SourceReader
from resin_es.adapters.elasticsearch.foreign_requests import changed_query, lacking_query, mapped
from resin_es.errors import InputError, StoreRefused
from resin_es.model import Document
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import FieldInfo, Unreadable
from resin_es.sync.spec import near

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MAX_BYTES = 10_000_000


class ElasticsearchIndex:
    """Implements :class:`resin_es.ports.sync.ForeignIndex` on one cluster; safe to share between
    threads. It sends reads alone: mapping, count, point in time, search, multi-get.

    Documents over ``max_bytes`` (title and text in UTF-8) are Unreadable. So is an id that
    several records have (of a pattern, or by an id field): which of them is meant is not for us
    to say.
    """

    def __init__(self, client: Elasticsearch, *, max_bytes: int = MAX_BYTES) -> None:
        self._client = client
        self._max_bytes = max_bytes

    def fields(self, index: str) -> Mapping[str, FieldInfo]:
        try:
            return mapped(self._mappings(index)).fields
        except MissingIndex as error:
            told = near(index.replace("*", ""), self._names())
            raise InputError(
                f"There is no index {index!r}, or none that may be read{told}.",
                hint="Check the name, and the rights on it.",
            ) from error

    def indices(self, index: str) -> Sequence[str]:
        """The concrete indices behind a name, sorted."""
        return sorted(self._mappings(index))

    def count(self, spec: SourceSpec, since: datetime | None = None) -> int:
        return self._count(spec, changed_query(spec, since))

    def lacking(self, spec: SourceSpec, *fields: str) -> int:
        """Records without a value in any of ``fields``, none of which may be nested."""
        return self._count(spec, lacking_query(*fields))

    def documents(
        self, spec: SourceSpec, since: datetime | None = None
    ) -> Iterator[Document | Unreadable]:
        yield from self._reader(spec).documents(since)

    def ids(self, spec: SourceSpec) -> Iterator[str]:
        yield from self._reader(spec).ids()

    def fetch(
        self, spec: SourceSpec, external_ids: Sequence[str]
    ) -> Mapping[str, Document | Unreadable]:
        """In realtime where the source is one concrete index, elsewhere as of its last
        refresh."""
        return self._reader(spec).fetch(external_ids)

    def _reader(self, spec: SourceSpec) -> SourceReader:
        # The mapping is asked anew each time: a team changes it without telling us.
        return SourceReader(self._client, spec, self._mappings(spec.index), self._max_bytes)

    def _mappings(self, index: str) -> Mapping[str, Any]:
        with reading(f"reading the mapping of {index!r}", self._client, index):
            found: Mapping[str, Any] = self._client.indices.get_mapping(index=index).body
        if not found:
            raise missing(index, self._client)
        return found

    def _count(self, spec: SourceSpec, query: Mapping[str, Any]) -> int:
        doing = f"counting source {spec.name!r}"
        with reading(doing, self._client, spec.index):
            answer = self._client.count(index=spec.index, query=query).body
        complete(answer, doing, self._client, spec.index)
        return int(answer["count"])

    def _names(self) -> list[str]:
        """Indices, aliases and data streams that there are; none where looking is not allowed."""
        try:
            with reading("listing indices", self._client, "*"):
                found = self._client.indices.resolve_index(name="*").body
        except StoreRefused:
            return []
        kinds = ("indices", "aliases", "data_streams")
        return [one["name"] for kind in kinds for one in found.get(kind, ())]
