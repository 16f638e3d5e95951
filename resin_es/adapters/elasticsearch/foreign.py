"""A team's own index, read only: by point in time, complete or an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from resin_es.model import Document
from resin_es.model.source import SourceSpec
from resin_es.ports.sync import FieldInfo, Unreadable

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

MAX_BYTES = 10_000_000


class ElasticsearchIndex:
    """Implements :class:`resin_es.ports.sync.ForeignIndex` on one cluster.

    Documents over ``max_bytes`` (title and text in UTF-8) are Unreadable.
    """

    def __init__(self, client: Elasticsearch, *, max_bytes: int = MAX_BYTES) -> None:
        self._client = client
        self._max_bytes = max_bytes

    def fields(self, index: str) -> Mapping[str, FieldInfo]:
        raise NotImplementedError

    def count(self, spec: SourceSpec, since: datetime | None = None) -> int:
        raise NotImplementedError

    def documents(
        self, spec: SourceSpec, since: datetime | None = None
    ) -> Iterator[Document | Unreadable]:
        raise NotImplementedError

    def ids(self, spec: SourceSpec) -> Iterator[str]:
        raise NotImplementedError

    def fetch(
        self, spec: SourceSpec, external_ids: Sequence[str]
    ) -> Mapping[str, Document | Unreadable]:
        raise NotImplementedError
